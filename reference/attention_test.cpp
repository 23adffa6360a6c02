#include "sextant/reference/attention.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"

namespace sextant {
namespace {

template <class Real>
Rows<Real> rows(std::initializer_list<std::initializer_list<int>> values) {
  Rows<Real> result;
  for (const auto& row : values) {
    result.emplace_back();
    for (const int value : row) result.back().push_back(Real(value) / Real(8));
  }
  return result;
}

TEST(attention, three_number_types_agree) {
  const WorkingDigits scope(60);
  for (const bool causal : {false, true}) {
    const auto run = [&]<class Real>(const Real&) {
      return attention<Real>(rows<Real>({{3, -5}, {1, 7}, {-2, 4}}), rows<Real>({{2, 9}, {-4, 1}, {6, 6}}),
                             rows<Real>({{1, 2}, {3, 4}, {5, 6}}), Real(1) / Real(2), causal);
    };
    const Rows<Mpfr> mpfr = run(Mpfr());
    const Rows<Interval> interval = run(Interval());
    const Rows<Bin100> bin = run(Bin100());
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_TRUE(in(mpfr[i][c],
                       Interval(lower(interval[i][c]) - Mpfr(1e-55), upper(interval[i][c]) + Mpfr(1e-55))));
        EXPECT_LT(abs(Bin100(mpfr[i][c].str(0)) - bin[i][c]), Bin100(1e-50));
      }
    }
  }
}

TEST(attention, zero_scores_average_the_visible_values) {
  const WorkingDigits scope(40);
  const Rows<Mpfr> zero = rows<Mpfr>({{0}, {0}, {0}});
  const Rows<Mpfr> v = rows<Mpfr>({{8}, {0}, {0}});
  const Rows<Mpfr> causal = attention<Mpfr>(zero, zero, v, 1, true);
  const Rows<Mpfr> full = attention<Mpfr>(zero, zero, v, 1, false);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(abs(causal[i][0] * (i + 1) - 1), Mpfr(1e-38));
    EXPECT_LT(abs(full[i][0] * 3 - 1), Mpfr(1e-38));
  }
}

}  // namespace
}  // namespace sextant
