#include "sextant/reference/oracle/judge.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "sextant/reference/number.hpp"

namespace sextant::oracle {
namespace {

constexpr const Format* kFormats[] = {&kFloat32, &kFloat16, &kBFloat16};

const Format& any_format() { return *kFormats[*rc::gen::inRange(0, 3)]; }

// A truth in double-double near a value of the format, a midpoint or a power of two: where decisions are
// close.
struct Close {
  double got;
  Wide truth;
  double bound;
};
Close any_close(const Format& format) {
  const double binade = std::ldexp(1.0, *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-40, 1)));
  const double spacing = ulp_of(binade, format);
  const auto steps = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 3));
  const double near = binade + spacing * 0.5 * *rc::gen::element(-1.0, 0.0, 1.0, 2.0, 3.0);
  const double off = *rc::gen::element(-1.0, 0.0, 1.0) * std::ldexp(spacing, -*rc::gen::inRange(2, 60));
  const double lo = *rc::gen::element(-1.0, 0.0, 1.0) * std::ldexp(near, -*rc::gen::inRange(54, 110));
  const double got = binade + spacing * (steps - 1);
  const double bound = *rc::gen::element(0.0, 1.0) * std::ldexp(std::fabs(near), -*rc::gen::inRange(40, 110));
  const double sign = *rc::gen::element(-1.0, 1.0);
  const Wide truth = two_sum(near + off, lo);
  return {sign * got, {sign * truth.hi, sign * truth.lo}, bound};
}

struct Exact {
  Mpfr ulp;
  bool correctly_rounded;
};
// The definition of tally.hpp in arbitrary precision.
Exact exact_error(double got, const Mpfr& truth, const Format& format) {
  const long exponent =
      truth == 0 ? format.emin : std::max<long>(mpfr_get_exp(truth.backend().data()) - 1, format.emin);
  const Mpfr r = abs(Mpfr(got - truth)) * ldexp(Mpfr(1), static_cast<int>(format.precision - 1 - exponent));
  Mpfr units = r * 65536;
  mpfr_rint(units.backend().data(), units.backend().data(), MPFR_RNDN);
  return {Mpfr(units / 65536), r <= 0.5};
}

// Whatever is decided holds at both ends of the enclosure.
RC_GTEST_PROP(Judge, DecidesOnlyWhatHoldsForTheWholeEnclosure, ()) {
  const WorkingDigits scope(120);
  for (int i = 0; i < 100; ++i) {
    const Format& format = any_format();
    const Close close = any_close(format);
    const auto spacing = certain_spacing(close.truth, close.bound, format);
    const auto verdict =
        spacing ? judge(distance(close.got, close.truth, close.bound), *spacing) : std::nullopt;
    const auto rounding = certain_rounding(close.truth, close.bound, format);
    for (const double end : {-1.0, 1.0}) {
      const Mpfr truth = Mpfr(close.truth.hi) + close.truth.lo + Mpfr(close.bound) * end;
      const Exact want = exact_error(close.got, truth, format);
      if (verdict) {
        RC_ASSERT(Mpfr(verdict->ulp) == want.ulp);
        RC_ASSERT(verdict->correctly_rounded == want.correctly_rounded);
      }
      if (rounding) RC_ASSERT(exact_error(*rounding, truth, format).correctly_rounded);
    }
  }
}

// The high word stands on a multiple, and the low word, though negative, uses up the bound's room.
TEST(Judge, ALowWordAloneCountsByItsSize) {
  for (const double low : {-0x1p-36, 0x1p-36})
    EXPECT_FALSE(judge({{2.5, low / 65536}, 0.5 / 65536}, 1)) << low;
}

TEST(Judge, DecidesExactTruthsAlways) {
  // 1 + 2^-24 is a tie of float32: both neighbours are correctly rounded, at half an ulp.
  const Wide tie(1 + 0x1p-24);
  for (const double got : {1.0, 1.0 + 0x1p-23}) {
    const auto verdict = judge(distance(got, tie, 0), *certain_spacing(tie, 0, kFloat32));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->ulp, 0.5);
    EXPECT_TRUE(verdict->correctly_rounded);
  }
  EXPECT_EQ(certain_rounding(tie, 0, kFloat32), 1.0);
  EXPECT_EQ(certain_rounding(Wide(1 + 0x1p-23 + 0x1p-24), 0, kFloat32), 1 + 0x1p-22);
  EXPECT_FALSE(certain_rounding(tie, 0x1p-100, kFloat32));
}

TEST(Judge, MeasuresAnExactZeroInSubnormals) {
  const auto verdict = judge(distance(1e-30f, {}, 0), *certain_spacing({}, 0, kFloat32));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->ulp, std::ldexp(static_cast<double>(1e-30f), 149));
  EXPECT_FALSE(verdict->correctly_rounded);
}

TEST(Judge, RoundsPastTheLargestToInfinity) {
  EXPECT_EQ(certain_rounding(65519, 0, kFloat16), 65504);
  EXPECT_EQ(certain_rounding(65521, 0, kFloat16), INFINITY);
  EXPECT_EQ(certain_rounding(-65521, 0, kFloat16), -INFINITY);
}

}  // namespace
}  // namespace sextant::oracle
