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
  faulty.encode = [right = faulty.encode](EncodeCall call) {
    --call.positions.shape[0];
    --call.rows.shape[0];
    if (call.rows.shape[0] > 0) right(call);
  };
  expect_caught(law, Operation::encode, faulty, other_schemes(), "the last row never written");
  faulty.bias = [right = faulty.bias](const BiasCall& call) {
    right(call);
    call.bias.as<float>()[call.bias.elements()] = 0;
  };
  expect_caught(law, Operation::bias, faulty, other_schemes(), "a float past the end");
  faulty.buckets = [right = faulty.buckets](const BucketsCall& call) {
    right(call);
    call.buckets.as<std::int32_t>()[-1] = 0;
  };
  expect_caught(law, Operation::buckets, faulty, other_schemes(), "a bucket before the beginning");
  faulty.relative = [right = faulty.relative](const RelativeCall& call) {
    const float before = call.out.as<float>()[0];
    right(call);
    if (before > 0) call.out.as<float>()[0] += before;
  };
  expect_caught(law, Operation::relative, faulty, other_schemes(), "an output added to");
  faulty.attention = [right = faulty.attention](const AttentionCall& call) {
    right(call);
    call.out.as<float>()[call.out.elements() + 63] = 0;
  };
  expect_caught(law, Operation::attention, faulty, law_encodings(), "a float far past the end");
}

}  // namespace
}  // namespace sextant
