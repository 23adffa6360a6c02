#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(memory_bounds, kernel) { expect_conduct(memory_bounds()); }

TEST(memory_bounds, teeth) {
  const Law law = memory_bounds();
  expect_rotate_caught(law, "a float past the end",
                       [](const RotateCall& call) { call.q_out.as<float>()[call.q_out.elements()] = 1; });
  expect_rotate_caught(law, "a float before the beginning",
                       [](const RotateCall& call) { call.k_out.as<float>()[-1] = 1; });
  expect_rotate_caught(law, "an input's margin", [](const RotateCall& call) { call.q.as<float>()[-1] = 1; });
  expect_rotate_caught(law, "a read past the end", [](const RotateCall& call) {
    const float next = call.q.as<float>()[call.q.elements()];
    if (next > 0) call.q_out.as<float>()[0] += next;
  });
  Kernel faulty = scalar_kernel();
  faulty.tables = [right = faulty.tables](TablesCall call) {
    --call.positions.shape[0];
    right(call);
  };
  expect_caught(law, Operation::tables, faulty, law_encodings(), "the last row never written");
  faulty.frequencies = [right = faulty.frequencies](const FrequenciesCall& call) {
    const float before = call.inv_freq.as<float>()[0];
    right(call);
    if (before > 0) call.inv_freq.as<float>()[0] += before;
  };
  expect_caught(law, Operation::frequencies, faulty, law_encodings(), "an output added to");
  faulty.attention = [right = faulty.attention](const AttentionCall& call) {
    right(call);
    call.out.as<float>()[call.out.elements() + 63] = 0;
  };
  expect_caught(law, Operation::attention, faulty, law_encodings(), "a float far past the end");
}

}  // namespace
}  // namespace sextant
