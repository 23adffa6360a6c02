#include "sextant/reference/wide.hpp"

#include <random>

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

Wide random_wide(std::mt19937_64& random) {
  const auto signed_unit = [&] {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63);
  };
  const double hi = std::ldexp(signed_unit(), static_cast<int>(random() % 80) - 40);
  return fast_two_sum(hi, signed_unit() * ulp_of(hi, kFloat64) / 2);
}

Mpfr exact(const Wide& value) { return Mpfr(value.hi) + Mpfr(value.lo); }

TEST(wide, sums_and_products_keep_their_bounds_and_the_bounds_are_sharp) {
  const WorkingDigits scope(120);
  std::mt19937_64 random(1);
  const auto relative = [](const Wide& got, const Mpfr& want) {
    return want == 0 ? 0.0 : Mpfr(abs(exact(got) - want) / abs(want)).convert_to<double>();
  };
  double worst_sum = 0;
  double worst_product = 0;
  for (int i = 0; i < 200000; ++i) {
    const Wide a = random_wide(random);
    const Wide b = random_wide(random);
    worst_sum = std::max(worst_sum, relative(a + b, exact(a) + exact(b)));
    worst_product = std::max(worst_product, relative(a * b, exact(a) * exact(b)));
  }
  std::printf("wide: worst relative error of a sum 2^%.2f, of a product 2^%.2f\n", std::log2(worst_sum),
              std::log2(worst_product));
  EXPECT_LT(worst_sum, 0x1p-104);
  EXPECT_LT(worst_product, 0x1p-103);
  EXPECT_GT(worst_sum, 0x1p-106);
  EXPECT_GT(worst_product, 0x1p-105);
}

TEST(truth, rows_are_within_their_bound_of_a_longer_computation) {
  expect_property("rows", [] {
    const Rope rope = *arbitrary_rope(8);
    const auto position = *rc::gen::oneOf(uniform<std::int64_t>(-2000, 2000),
                                          uniform<std::int64_t>(-kMaxPosition, kMaxPosition));
    const std::int64_t seq_len = std::max<std::int64_t>(position + 1, 1);
    ExactRows rows(rope, seq_len);
    const ExactRow& row = rows.at(position);
    const WorkingDigits scope(200);
    const Frequencies<Mpfr> f = frequencies<Mpfr>(rope, seq_len);
    const TableRow<Mpfr> want = table_row(f, position, TableForm::half);
    const Mpfr bound = f.attention_factor * ExactRows::kRowError;
    for (std::size_t i = 0; i < row.cos.size(); ++i) {
      RC_ASSERT(abs(exact(row.cos[i]) - want.cos[i]) <= bound);
      RC_ASSERT(abs(exact(row.sin[i]) - want.sin[i]) <= bound);
    }
  });
}

TEST(distance, measures_follow_their_definitions) {
  EXPECT_EQ(ulp_of(1.0, kFloat32), 0x1p-23);
  EXPECT_EQ(ulp_of(0.999, kFloat32), 0x1p-24);
  EXPECT_EQ(ulp_of(0.0, kFloat32), 0x1p-149);
  EXPECT_EQ(ulp_of(1e-320, kFloat32), 0x1p-149);
  EXPECT_EQ(ulp_of(1.0, kBFloat16), 0x1p-7);
  EXPECT_EQ(ulp_of(0x1p-20, kFloat16), 0x1p-24);
  EXPECT_EQ(error_ulp(1.0, Wide(1.0 - 0x1p-25), kFloat32), 0.5);
  EXPECT_EQ(error_ulp(NAN, Wide(1.0), kFloat32), INFINITY);
  EXPECT_EQ(pair_ulp(-0.0, Wide(0.0), 0, kFloat32), 0);
  EXPECT_EQ(pair_ulp(0x1p-149, Wide(0.0), 0, kFloat32), INFINITY);
  EXPECT_EQ(pair_ulp(1 + 0x1p-23, Wide(1.0), 2, kFloat32), 1);
  EXPECT_EQ(round_to(65520, kFloat16), INFINITY);
  EXPECT_EQ(round_to(65519, kFloat16), 65504);
  EXPECT_EQ(round_to(1 + 0x1p-24, kFloat32), 1);
  EXPECT_EQ(round_to(1 + 0x1p-23 + 0x1p-24, kFloat32), 1 + 0x1p-22);
}

}  // namespace
}  // namespace sextant
