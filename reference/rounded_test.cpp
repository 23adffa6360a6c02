// Rounded<24> bounds the float32 recipe (kept), and is not far above what the recipe does (sharp).
#include "sextant/reference/rounded.hpp"

#include <map>

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// |w_float - w| / bound of every pair, where the bound is not zero; fails where it is exceeded.
double worst_share(const Rope& rope, std::int64_t seq_len) {
  const WorkingDigits scope(50);
  const Frequencies<Mpfr> exact = frequencies<Mpfr>(rope, seq_len);
  const Frequencies<float> recipe = frequencies<float>(rope, seq_len);
  const Frequencies<Rounded<24>> bounded = frequencies<Rounded<24>>(rope, seq_len);
  double worst = 0;
  const auto take = [&](float got, const Mpfr& want, const Rounded<24>& bound) {
    RC_ASSERT(in(want, bound.exact()));
    const double error = Mpfr(abs(Mpfr(got) - want)).convert_to<double>();
    // The two enclosures of the same real differ by 2^-160 at most.
    RC_ASSERT(error <= bound.error() + std::fabs(got) * 0x1p-140);
    if (bound.error() > 0) worst = std::max(worst, error / bound.error());
  };
  for (std::size_t i = 0; i < exact.inv_freq.size(); ++i) {
    take(recipe.inv_freq[i], exact.inv_freq[i], bounded.inv_freq[i]);
  }
  take(recipe.attention_factor, exact.attention_factor, bounded.attention_factor);
  return worst;
}

TEST(rounded, bound_is_kept_and_sharp_for_every_scaling) {
  std::map<std::string, double> worst;
  expect_property("float32 frequencies stay within the bound", [&] {
    const Rope rope = *arbitrary_rope();
    const auto seq_len = *uniform<std::int64_t>(1, std::int64_t{1} << 21);
    double& seen = worst[std::string(scaling_name(rope.scaling))];
    seen = std::max(seen, worst_share(rope, seq_len));
  });
  for (const auto& [scaling, share] : worst) {
    std::printf("rounded: %-12s worst error / bound = %.3f\n", scaling.c_str(), share);
    EXPECT_GT(share, 0.25) << scaling;
  }
  EXPECT_EQ(worst.size(), std::variant_size_v<Scaling>);
}

TEST(rounded, known_blends) {
  // With a correctly rounded pow, Llama 3.1 pair 33 is off by 5.4 u, YaRN-Llama-2 pair 45
  // by 6.3 u.
  for (const auto& [text, pair] :
       {std::pair{"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 33},
        std::pair{"rope(dim=128,theta=10000,scaling=yarn(factor=32,original=4096))", 45}}) {
    const Rope rope = std::get<Rope>(parse_encoding(text));
    const Rounded<24> w = frequencies<Rounded<24>>(rope, 1).inv_freq[static_cast<std::size_t>(pair)];
    const double error_u = w.error() / w.magnitude() * 0x1p24;
    EXPECT_GT(error_u, 6.3);
    EXPECT_LT(error_u, 4 * 6.3) << text;
  }
}

TEST(rounded, what_is_exact_stays_exact) {
  const Frequencies<Rounded<24>> f =
      frequencies<Rounded<24>>(std::get<Rope>(parse_encoding("rope(dim=128,theta=10000)")), 1);
  EXPECT_EQ(f.inv_freq[0].error(), 0);
  EXPECT_GT(f.inv_freq[1].error(), 0);
  EXPECT_EQ(f.attention_factor.error(), 0);
  EXPECT_EQ((Rounded<24>(2) * Rounded<24>(3) - Rounded<24>(1)).error(), 0);
  EXPECT_GT((Rounded<24>(1) / Rounded<24>(3)).error(), 0);
  EXPECT_EQ((Rounded<24>(1) / Rounded<24>(4)).error(), 0);
  EXPECT_GT(Rounded<24>(Rounded<53>(0.1)).error(), 0);
  EXPECT_EQ(Rounded<53>(0.1).error(), 0);
  EXPECT_TRUE(std::isinf(Rounded<24>(1e39).error()));
}

}  // namespace
}  // namespace sextant
