#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(base_rescale, truth) {
  // From 2048 to 8192 tokens at d = 64: NTK's base 10000 * 4^(64/62), about 42000, is a change of theta
  // alone.
  const WorkingDigits scope(50);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=64,theta=10000)"), 1);
  const Frequencies<Interval> ntk =
      frequencies<Interval>(rope_of("rope(dim=64,theta=10000,scaling=ntk(factor=4))"), 1);
  const Interval base = Interval(10000) * exp(Interval(64) / 62 * log(Interval(4)));
  EXPECT_TRUE(lower(base) > 41500 && upper(base) < 42000);
  int unseen = 0;
  for (int k = 0; k < 32; ++k) {
    const auto i = static_cast<std::size_t>(k);
    EXPECT_TRUE(meet(ntk.inv_freq[i], exp(-log(base) * k / 32)));
    // Coverage: a pair that made no full turn in training leaves the angles it has seen, but for the last,
    // whose largest angle stays what it was.
    if (lower(2048 * plain.inv_freq[i]) > 2 * lower(pi<Interval>())) continue;
    ++unseen;
    const Interval reached = 8192 * ntk.inv_freq[i], seen = 2048 * plain.inv_freq[i];
    EXPECT_EQ(meet(reached, seen), k == 31);
    EXPECT_TRUE(k == 31 || lower(reached) > upper(seen));
  }
  EXPECT_EQ(unseen, 11);
}

TEST(base_rescale, kernel) { expect_kept(base_rescale()); }

TEST(base_rescale, teeth) {
  const std::vector<Rope> plain = {rope_of("rope(dim=32,theta=10000)"), rope_of("rope(dim=16,theta=500000)")};
  const auto caught = [&](const Kernel& kernel, const char* fault) {
    expect_caught(base_rescale(), Operation::frequencies, kernel, plain, fault);
  };
  caught(misreading([](Rope r) {
           r.theta = 10000;
           return r;
         }),
         "theta fixed");
  caught(misreading([](Rope r) {
           r.theta = std::min(r.theta, 65504.0);
           return r;
         }),
         "theta clamped to float16");
  caught(misreading([](Rope r) {
           r.theta = r.theta + 100;
           return r;
         }),
         "theta with an offset");
  caught(with_frequencies([](const Rope& r, float* w, float*) { w[r.pairs() - 1] *= 1.0001F; }),
         "the last pair off the ladder");
  caught(with_frequencies([](const Rope& r, float* w, float*) {
           if (r.theta > 20000) w[0] *= 1.5F;
         }),
         "pair 0 moved");
  // Blind to an exponent that is wrong in every theta alike, in the ladder; seen in the ratio.
  caught(misreading([](Rope r) {
           r.theta = std::pow(r.theta, 1.001);
           return r;
         }),
         "another exponent");
}

}  // namespace
}  // namespace sextant
