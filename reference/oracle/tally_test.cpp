#include "sextant/reference/oracle/tally.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace sextant {
namespace {

// Small numbers of everything, so that ties happen.
Tally random_tally() {
  Tally tally;
  tally.points = *rc::gen::inRange<std::uint64_t>(0, 9);
  const auto errors = [] {
    Errors e;
    e.values = *rc::gen::inRange<std::uint64_t>(0, 9);
    e.nan = *rc::gen::inRange<std::uint64_t>(0, 2);
    e.sum = {*rc::gen::element<std::uint64_t>(0, 1, ~std::uint64_t{0} / 2, ~std::uint64_t{0}),
             *rc::gen::arbitrary<std::uint64_t>()};
    e.max_ulp = *rc::gen::element(0.0, 0.5, 3.25);
    return e;
  };
  tally.all = errors();
  tally.octaves[3] = errors();
  const auto witness = [] {
    return TallyWitness{*rc::gen::inRange<std::int64_t>(-2, 3),
                        *rc::gen::inRange<std::int64_t>(0, 2),
                        *rc::gen::element(Function::cos, Function::sin),
                        0,
                        0,
                        *rc::gen::element(0.5, 3.25)};
  };
  if (*rc::gen::arbitrary<bool>()) tally.offer_worst(witness());
  if (*rc::gen::arbitrary<bool>()) tally.offer_nan(witness());
  return tally;
}

bool same_place(const std::optional<TallyWitness>& a, const std::optional<TallyWitness>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (!a->stands_before(*b) && !b->stands_before(*a));
}

bool same(const Tally& a, const Tally& b) {
  return a.points == b.points && a.all == b.all && a.octaves == b.octaves && same_place(a.worst, b.worst) &&
         same_place(a.first_nan, b.first_nan);
}

Tally sum(Tally a, const Tally& b) { return a += b; }

RC_GTEST_PROP(Tally, MergesInAnyOrder, ()) {
  const Tally a = random_tally(), b = random_tally(), c = random_tally();
  RC_ASSERT(same(sum(a, b), sum(b, a)));
  RC_ASSERT(same(sum(sum(a, b), c), sum(a, sum(b, c))));
  RC_ASSERT(same(sum(a, Tally{}), a));
}

TEST(UlpSum, CountsUnitsOfOne65536thAndSaturates) {
  EXPECT_EQ(UlpSum::from_ulp(0.5), UlpSum::from_units(32768));
  EXPECT_EQ(UlpSum::from_ulp(0x1p48), (UlpSum{1, 0}));
  EXPECT_TRUE(UlpSum::from_ulp(INFINITY).saturated());
  EXPECT_TRUE(UlpSum::from_ulp(0x1p112).saturated());
  UlpSum carried{0, ~std::uint64_t{0}};
  carried += UlpSum::from_units(1);
  EXPECT_EQ(carried, (UlpSum{1, 0}));
  UlpSum full{~std::uint64_t{0}, 5};
  full += UlpSum{1, 0};
  EXPECT_TRUE(full.saturated());
  EXPECT_TRUE(std::isinf(full.ulp()));
}

TEST(Tally, OctavesAreBinaryOrdersOfThePosition) {
  EXPECT_EQ(octave_of(0), 0);
  EXPECT_EQ(octave_of(1), 1);
  EXPECT_EQ(octave_of(-3), 2);
  EXPECT_EQ(octave_of(4), 3);
  EXPECT_EQ(octave_of(std::int64_t{1} << 40), Tally::kOctaves - 1);
}

}  // namespace
}  // namespace sextant
