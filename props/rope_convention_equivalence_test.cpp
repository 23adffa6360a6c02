#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

std::vector<Interval> permuted(const std::vector<Interval>& x) {
  std::vector<Interval> y(x.size());
  for (std::size_t i = 0; i < x.size() / 2; ++i) {
    y[i] = x[2 * i];
    y[i + x.size() / 2] = x[2 * i + 1];
  }
  return y;
}

TEST(rope_convention_equivalence, truth) {
  const WorkingDigits scope(50);
  for (Rope rope : law_encodings()) {
    rope.head_dim = rope.dim;
    const Frequencies<Interval> f = frequencies<Interval>(rope, 100);
    std::vector<Interval> x;
    for (std::int64_t i = 0; i < rope.dim; ++i) x.push_back(Interval(i * i - 5));
    const auto with = [&](Pairing pairing, const std::vector<Interval>& in) {
      Rope other = rope;
      other.pairing = pairing;
      return rotate(other, f, 77, in);
    };
    const std::vector<Interval> want = permuted(with(Pairing::interleaved, x));
    const std::vector<Interval> half = with(Pairing::half, permuted(x));
    const std::vector<Interval> deinterleave = with(Pairing::deinterleave, x);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(meet(want[i], half[i], 1e6));
      EXPECT_TRUE(meet(want[i], deinterleave[i], 1e6));
    }
  }
}

TEST(rope_convention_equivalence, kernel) {
  expect_kept(rope_convention_equivalence());
  // Also where bits are not claimed: both sides within their bounds.
  Contract loose = parse_contract("f32-angle");
  EXPECT_EQ(run_trials(rope_convention_equivalence(), Operation::rotate, scalar_kernel(), law_encodings(), 20,
                       loose)
                .failed,
            0);
}

TEST(rope_convention_equivalence, teeth) {
  const Law law = rope_convention_equivalence();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  if (r.pairing == Pairing::half) r.direction = -1;
                  return r;
                }),
                plain, "half turns the other way");
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  if (r.pairing == Pairing::interleaved) r.theta = 10001;
                  return r;
                }),
                plain, "interleaved has a base of its own");
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  if (r.pairing == Pairing::deinterleave) r.pairing = Pairing::interleaved;
                  return r;
                }),
                plain, "deinterleave writes in place");

  // One bit apart: caught where bits are claimed, allowed by the bound where they are not.
  Kernel bit = scalar_kernel();
  bit.rotate = [right = bit.rotate](const RotateCall& call) {
    right(call);
    float& first = call.q_out.as<float>()[0];
    if (std::get<Rope>(call.encoding).pairing == Pairing::half) first = std::nextafter(first, 10.0F);
  };
  expect_caught(law, Operation::rotate, bit, plain, "one bit between the conventions");
  EXPECT_EQ(run_trials(law, Operation::rotate, bit, plain, 20, parse_contract("f32-angle")).failed, 0);
}

}  // namespace
}  // namespace sextant
