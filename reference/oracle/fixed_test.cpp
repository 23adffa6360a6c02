#include "sextant/reference/oracle/fixed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sextant/reference/oracle/seeds.hpp"

namespace sextant::oracle {
namespace {

constexpr unsigned kDigits = 120;

Mpfr value_of(const Fixed& x) {
  const Fixed size = x.negative() ? -x : x;
  const Mpfr sum = ((Mpfr(size.limbs[2]) * 0x1p64 + size.limbs[1]) * 0x1p64 + size.limbs[0]) * 0x1p-190;
  return x.negative() ? Mpfr(-sum) : sum;
}

double error(const Mpfr& got, const Mpfr& want) { return abs(Mpfr(got - want)).convert_to<double>(); }

Fixed random_fixed(std::mt19937_64& random) {
  Fixed x{{random(), random(), random()}};
  x.limbs[2] = static_cast<std::uint64_t>(static_cast<std::int64_t>(x.limbs[2]) >> 1);  // |x| < 1
  return x;
}

TEST(Fixed, SumsAreExactAndProductsRoundDownByLessThanOneUnit) {
  const WorkingDigits scope(kDigits);
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const Fixed a = random_fixed(random), b = random_fixed(random);
    ASSERT_EQ(value_of(a + b), value_of(a) + value_of(b));
    ASSERT_EQ(value_of(a - b), value_of(a) - value_of(b));
    const Mpfr exact = value_of(a) * value_of(b);
    ASSERT_LE(value_of(a * b), exact);
    worst = std::max(worst, error(value_of(a * b), exact));
  }
  EXPECT_LT(worst, 0x1p-190);
  EXPECT_GT(worst, 0x1p-192);
}

TEST(Fixed, ConversionKeepsItsBoundAndNearlyReachesIt) {
  const WorkingDigits scope(kDigits);
  std::mt19937_64 random(2);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const Fixed x = random_fixed(random);
    const Wide wide = to_wide(x);
    ASSERT_LE(std::fabs(wide.lo), std::ldexp(1.0, std::ilogb(wide.hi) - 53));
    worst = std::max(worst, error(Mpfr(wide.hi) + wide.lo, value_of(x)));
  }
  EXPECT_LT(worst, kFixedToWide);
  EXPECT_GT(worst, kFixedToWide / 4);
}

TEST(Fixed, PowersLoseNoMoreThanProved) {
  const WorkingDigits scope(kDigits);
  const Mpfr angle = Mpfr(1) / 3;
  const Phasor unit = phasor(angle);
  for (const std::uint64_t n : {1ull, 2ull, 63ull, 4096ull, (1ull << 40) - 1, 1ull << 40}) {
    const Phasor z = power(unit, n);
    const double bound = static_cast<double>(n) * 0x1p-186;
    EXPECT_LT(error(value_of(z.cos), cos(Mpfr(angle * n))), bound) << n;
    EXPECT_LT(error(value_of(z.sin), sin(Mpfr(angle * n))), bound) << n;
  }
}

}  // namespace
}  // namespace sextant::oracle
