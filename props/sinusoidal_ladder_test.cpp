#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(sinusoidal_ladder, truth) {
  const WorkingDigits scope(60);
  for (const Sinusoidal& scheme : sinusoids()) {
    const std::vector<Interval> w = inv_freq<Interval>(scheme);
    const auto [numerator, denominator] = ladder_of(scheme);
    const Interval ratio = pow(Interval(scheme.base), Interval(-numerator) / denominator);
    for (std::int64_t k = 0; k < whole_pairs(scheme); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (k % pairs_per_axis(scheme) > 0) {
        EXPECT_TRUE(meet(w[i], w[i - 1] * ratio));
      } else if (scheme.layout != Sinusoidal::Layout::H) {
        EXPECT_EQ(w[i], 1);  // the first wavelength is 2 pi
      }
    }
  }
  // d = 8, base 10000: divisors 1, 10, 100, 1000; exponent i/(n-1) ends at the base itself.
  const auto last = [](const char* text) {
    return inv_freq<Interval>(std::get<Sinusoidal>(parse_encoding(text))).back();
  };
  EXPECT_TRUE(meet(last("sinusoidal(dim=8)"), Interval(1) / 1000));
  EXPECT_TRUE(meet(last("sinusoidal(dim=8,layout=A)"), Interval(1) / 10000));
  EXPECT_TRUE(meet(last("sinusoidal(dim=8,layout=F)"), Interval(1) / 1000));
  EXPECT_TRUE(meet(last("sinusoidal(dim=8,layout=G,grid_columns=2)"), Interval(1) / 100));
  EXPECT_TRUE(meet(last("sinusoidal(dim=8,layout=H,grid_rows=1,grid_columns=2)"),
                   2 * pi<Interval>() / ((2 + Interval(1) / 1000000) * 100)));
}

TEST(sinusoidal_ladder, kernel) { expect_kept(sinusoidal_ladder(), sinusoidal_encodings()); }

TEST(sinusoidal_ladder, bound_is_sharp) {
  const Trials trials =
      run_trials(sinusoidal_ladder(), Operation::encode, scalar_kernel(),
                 {encoding_of("sinusoidal(dim=512)"), encoding_of("sinusoidal(dim=768,layout=A)"),
                  encoding_of("sinusoidal(dim=256,layout=H,grid_rows=20,grid_columns=30)")},
                 1);
  EXPECT_EQ(trials.failed, 0);
  std::printf("sinusoidal_ladder: worst share %.3f\n", trials.measure.share());
  EXPECT_GT(trials.measure.share(), 0.25);
}

TEST(sinusoidal_ladder, a_wide_row_asks_for_few_rows) {
  std::int64_t most = 0;
  const Kernel counting = encoding_at([&](std::int64_t position, std::int64_t, std::int64_t tokens) {
    most = std::max(most, tokens);
    return position;
  });
  const Encodings wide = {encoding_of("sinusoidal(dim=4096)")};
  EXPECT_EQ(run_trials(sinusoidal_ladder(), Operation::encode, counting, wide, 1).failed, 0);
  EXPECT_GT(most, 10);
  EXPECT_LE(most, 31);  // powers of two below 2^31
}

TEST(sinusoidal_ladder, teeth) {
  const Law law = sinusoidal_ladder();
  const Encoding b = encoding_of("sinusoidal(dim=16,layout=B)"),
                 a = encoding_of("sinusoidal(dim=16,layout=A)");
  const auto caught = [&](const Kernel& kernel, const Encoding& encoding, const char* fault) {
    expect_caught(law, Operation::encode, kernel, {encoding}, fault);
  };
  caught(encoding_as([](Sinusoidal& s) { s.layout = Sinusoidal::Layout::A; }), b, "i/(n-1) for 2i/d");
  caught(encoding_as([](Sinusoidal& s) { s.layout = Sinusoidal::Layout::B; }), a, "2i/d for i/(n-1)");
  caught(encoding_as([](Sinusoidal& s) { s.base *= 1.00001; }), b, "base off by 1e-5");
  caught(encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return 2 * p; }), b, "twice the angle");
  caught(encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p + 1; }), b, "off by one");
  caught(encoding_columns([](std::int64_t j, std::int64_t) { return j ^ 1; }),
         encoding_of("sinusoidal(dim=16)"), "sines and cosines exchanged");
  // Blind to positions that are wrong far out.
  EXPECT_EQ(run_trials(law, Operation::encode, encoding_at([](std::int64_t p, std::int64_t, std::int64_t) {
                         return std::min<std::int64_t>(p, 1 << 20);
                       }),
                       {b})
                .failed,
            0);
}

}  // namespace
}  // namespace sextant
