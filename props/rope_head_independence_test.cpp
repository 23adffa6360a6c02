#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(rope_head_independence, truth) {
  // The definition rotates one head: the head that stands beside others has the same enclosure, whatever they
  // hold, and a pair does not see the other pairs of its own head.
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 100);
    std::vector<Interval> x, hot(static_cast<std::size_t>(rope.head_dim), Interval(0));
    for (std::int64_t i = 0; i < rope.head_dim; ++i) x.push_back(Interval(i - 3));
    const PairChannels at = pair_channels(rope.pairing, rope.dim, 1);
    for (const std::int64_t channel : {at.in_a, at.in_b})
      hot[static_cast<std::size_t>(channel)] = x[static_cast<std::size_t>(channel)];
    const std::vector<Interval> whole = rotate(rope, f, 99, x);
    const std::vector<Interval> alone = rotate(rope, f, 99, hot);
    for (const std::int64_t channel : {at.out_a, at.out_b})
      EXPECT_TRUE(
          meet(whole[static_cast<std::size_t>(channel)], alone[static_cast<std::size_t>(channel)], 100));
  }
}

TEST(rope_head_independence, kernel) {
  expect_kept(rope_head_independence());
  EXPECT_EQ(run_trials(rope_head_independence(), Operation::rotate, scalar_kernel(), law_encodings(), 20,
                       parse_contract("f32-angle"))
                .failed,
            0);
}

/// The textbook kernel with change(head, channels, value) on every element of q and k it has rotated.
Kernel with_heads_changed(const std::function<void(std::int64_t, std::int64_t, float*)>& change) {
  Kernel kernel = scalar_kernel();
  kernel.rotate = [right = kernel.rotate, change](const RotateCall& call) {
    right(call);
    for (const Tensor& y : {call.q_out, call.k_out}) {
      if (!y) continue;
      const HeadView view = head_view(y, call.layout);
      for (std::int64_t b = 0; b < view.batch; ++b) {
        for (std::int64_t s = 0; s < view.tokens; ++s) {
          for (std::int64_t h = 0; h < view.heads; ++h)
            change(h, view.heads, y.as<float>() + view.offset(b, s, h));
        }
      }
    }
  };
  return kernel;
}

TEST(rope_head_independence, teeth) {
  const Law law = rope_head_independence();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto caught = [&](const std::function<void(std::int64_t, std::int64_t, float*)>& change,
                          const char* fault) {
    expect_caught(law, Operation::rotate, with_heads_changed(change), plain, fault);
  };
  const auto negated = [](std::int64_t h, std::int64_t, float* y) {
    if (h == 1) y[0] = -y[0];
  };
  caught(negated, "the second head turned another way");
  EXPECT_GT(
      run_trials(law, Operation::rotate, with_heads_changed(negated), plain, 20, parse_contract("f32-angle"))
          .failed,
      0);
  caught([](std::int64_t h, std::int64_t heads, float* y) { y[15] = h + 1 < heads ? y[15] : y[15] * 1.001F; },
         "the last head's last channel");
  caught(
      [](std::int64_t, std::int64_t heads, float* y) {
        if (heads % 2 == 1) y[3] = std::nextafter(y[3], 10.0F);
      },
      "one bit for odd head counts");
  // Blind to what all heads share.
  EXPECT_EQ(run_trials(law, Operation::rotate,
                       with_heads_changed([](std::int64_t, std::int64_t, float* y) { y[0] = -y[0]; }), plain)
                .failed,
            0);
}

}  // namespace
}  // namespace sextant
