#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(pi_scaling, truth) {
  // w' = w / s, and so R_PI(s m) = R(m).
  const WorkingDigits scope(50);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=32,theta=10000)"), 1);
  const Frequencies<Interval> scaled =
      frequencies<Interval>(rope_of("rope(dim=32,theta=10000,scaling=linear(factor=4))"), 1);
  const TableRow<Interval> row = table_row(plain, 1234, TableForm::half);
  const TableRow<Interval> stretched = table_row(scaled, 4 * 1234, TableForm::half);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(meet(scaled.inv_freq[i] * 4, plain.inv_freq[i]));
    EXPECT_TRUE(meet(row.cos[i], stretched.cos[i]));
    EXPECT_TRUE(meet(row.sin[i], stretched.sin[i]));
  }
}

TEST(pi_scaling, kernel) { expect_kept(pi_scaling()); }

TEST(pi_scaling, teeth) {
  const std::vector<Rope> plain = {rope_of("rope(dim=32,theta=10000)")};
  const auto factor = [](const Rope& rope) {
    const auto* linear = std::get_if<scaling::Linear>(&rope.scaling);
    return linear ? static_cast<float>(linear->factor) : 1.0F;
  };
  expect_caught(pi_scaling(), Operation::frequencies, with_frequencies([=](const Rope& r, float* w, float*) {
                  for (int i = 0; i < 16; ++i) w[i] *= factor(r) * factor(r);
                }),
                plain, "factor multiplied");
  expect_caught(pi_scaling(), Operation::frequencies,
                with_frequencies([=](const Rope& r, float* w, float*) { w[0] *= factor(r); }), plain,
                "pair 0 left unscaled");
  expect_caught(pi_scaling(), Operation::frequencies, misreading([](Rope r) {
                  if (auto* linear = std::get_if<scaling::Linear>(&r.scaling))
                    r.scaling = scaling::Ntk{linear->factor};
                  return r;
                }),
                plain, "the base changed instead");
}

}  // namespace
}  // namespace sextant
