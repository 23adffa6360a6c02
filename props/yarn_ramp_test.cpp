#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(yarn_ramp, truth) {
  const WorkingDigits scope(50);
  for (const char* truncate : {"", ",truncate=false"}) {
    const std::string yarn =
        std::string("rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096") + truncate + "))";
    const Frequencies<Interval> scaled = frequencies<Interval>(rope_of(yarn), 1);
    const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=128,theta=10000)"), 1);
    for (std::size_t k = 0; k < 64; ++k) {
      const Interval rotations = Interval(4096) * plain.inv_freq[k] / (2 * pi<Interval>());
      const Interval ratio = scaled.inv_freq[k] / plain.inv_freq[k];
      if (lower(rotations) > 32) {
        EXPECT_TRUE(meet(ratio, Interval(1)));
      }
      if (upper(rotations) < 1) {
        EXPECT_TRUE(meet(ratio, Interval(1) / 4));
      }
      EXPECT_TRUE(upper(ratio) >= 0.25 && lower(ratio) <= 1);
      if (k > 0) {
        EXPECT_TRUE(lower(ratio) <= upper(Interval(scaled.inv_freq[k - 1] / plain.inv_freq[k - 1])));
      }
    }
  }
}

TEST(yarn_ramp, kernel) { expect_kept(yarn_ramp()); }

TEST(yarn_ramp, degenerate_ranges_are_judged_by_their_rows) {
  const std::vector<Rope> degenerate = {
      rope_of("rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4))"),
      rope_of("rope(dim=128,theta=10000,scaling=yarn(factor=4,original=6))"),
      rope_of("rope(dim=128,theta=10,scaling=yarn(factor=4,original=65536))"),
      rope_of("rope(dim=64,theta=10000,scaling=yarn(factor=0.5,original=4096))"),
      rope_of("rope(dim=64,theta=10000,scaling=yarn(factor=4,original=4096,beta_fast=1,beta_slow=32))"),
  };
  const Trials trials = run_trials(yarn_ramp(), Operation::frequencies, scalar_kernel(), degenerate, 3);
  EXPECT_EQ(trials.failed, 0);
  EXPECT_EQ(trials.passed, 15);
}

TEST(yarn_ramp, teeth) {
  const std::vector<Rope> yarn = {rope_of("rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))")};
  const auto caught = [&](const std::function<void(scaling::Yarn&)>& misread, const char* fault) {
    expect_caught(yarn_ramp(), Operation::frequencies, misreading([misread](Rope r) {
                    if (auto* y = std::get_if<scaling::Yarn>(&r.scaling)) misread(*y);
                    return r;
                  }),
                  yarn, fault);
  };
  caught([](scaling::Yarn& y) { std::swap(y.beta_fast, y.beta_slow); }, "betas swapped");
  caught([](scaling::Yarn& y) { y.original *= 4; }, "range from the current length");
  caught([](scaling::Yarn& y) { y.truncate = false; }, "floor and ceil left out");
  caught([](scaling::Yarn& y) { y.factor = 1 / *y.factor; }, "factor inverted");
  expect_caught(yarn_ramp(), Operation::frequencies, misreading([](Rope r) {
                  if (const auto* y = std::get_if<scaling::Yarn>(&r.scaling))
                    r.scaling = scaling::Linear{*y->factor};
                  return r;
                }),
                yarn, "every pair interpolated");
}

}  // namespace
}  // namespace sextant
