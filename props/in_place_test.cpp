#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(in_place, kernel) { expect_conduct(in_place()); }

TEST(in_place, teeth) {
  const Law law = in_place();
  Kernel faulty = scalar_kernel();
  faulty.rotate = [right = faulty.rotate](const RotateCall& call) {
    const bool here = call.q_out.data == call.q.data;
    const float first = call.q.as<const float>()[0];
    right(call);
    if (here) call.q_out.as<float>()[1] += call.q_out.as<float>()[0] - first;
  };
  expect_caught(law, Operation::rotate, faulty, law_encodings(), "an input overwritten too early");
  EXPECT_GT(
      run_trials(law, Operation::rotate, faulty, law_encodings(), 20, parse_contract("f32-angle")).failed, 0)
      << "without bits";

  // One bit apart: allowed where bits are not claimed.
  faulty.rotate = [right = scalar_kernel().rotate](const RotateCall& call) {
    right(call);
    float& first = call.q_out.as<float>()[0];
    if (call.q_out.data == call.q.data) first = std::nextafter(first, 10.0F);
  };
  expect_caught(law, Operation::rotate, faulty, law_encodings(), "one bit");
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const Trials loose = run_trials(law, Operation::rotate, faulty, plain, 20, parse_contract("f32-angle"));
  EXPECT_GT(loose.passed, 10);
  EXPECT_LE(loose.failed, 20 - loose.passed);

  Kernel apart = scalar_kernel();
  apart.capabilities.in_place = Capabilities::InPlace::no;
  Truths truths;
  const Case c = draw_case(*law.space(plain.front(), 4096, 1), 1, 1);
  EXPECT_EQ(run_trial(law, {c, Operation::rotate, apart, claimed_contract(apart), truths}).verdict,
            Verdict::unsupported);
}

}  // namespace
}  // namespace sextant
