#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(repeatability, kernel) { expect_conduct(repeatability()); }

TEST(repeatability, teeth) {
  const Law law = repeatability();
  const auto nudge = [](const Tensor& out) {
    float& first = out.as<float>()[0];
    first = std::nextafter(first, 10.0F);
  };
  int calls = 0;
  expect_rotate_caught(law, "every other call is one bit off", [&](const RotateCall& call) {
    if (++calls % 2 == 0) nudge(call.q_out);
  });
  expect_rotate_caught(law, "an address decides", [&](const RotateCall& call) {
    if (reinterpret_cast<std::uintptr_t>(call.k.data) % 16 != 0) nudge(call.k_out);
  });

  Kernel faulty = scalar_kernel();
  std::int64_t longest = 0;
  faulty.tables = [&, right = faulty.tables](const TablesCall& call) {
    right(call);
    if (longest > call.seq_len) nudge(call.cos);
    longest = std::max(longest, call.seq_len);
  };
  expect_caught(law, Operation::tables, faulty, law_encodings(), "a length kept from a longer call");
  faulty.frequencies = [&, right = faulty.frequencies](const FrequenciesCall& call) {
    right(call);
    if (++calls % 3 == 0) nudge(call.inv_freq);
  };
  expect_caught(law, Operation::frequencies, faulty, law_encodings(), "one call in three is one bit off");

  faulty.bias = [&, right = faulty.bias](const BiasCall& call) {
    right(call);
    if (++calls % 2 == 0) nudge(call.bias);
  };
  expect_caught(law, Operation::bias, faulty, other_schemes(), "every other call is one bit off");
  faulty.relative = [&, right = faulty.relative](const RelativeCall& call) {
    right(call);
    if (++calls % 2 == 0) nudge(call.out);
  };
  expect_caught(law, Operation::relative, faulty, other_schemes(), "every other call is one bit off");

  // It binds kernels that claim no bits too.
  Kernel humble = rotating_with([&](const RotateCall& call) {
    if (++calls % 2 == 0) nudge(call.q_out);
  });
  humble.capabilities.bits_exact = false;
  expect_caught(law, Operation::rotate, humble, law_encodings(), "no claim about bits");
}

}  // namespace
}  // namespace sextant
