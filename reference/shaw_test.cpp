#include "sextant/reference/shaw.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/scatter.hpp"

namespace sextant {
namespace {

/// Eighths in [-1, 1], distinct for every salt.
template <class Real>
Rows<Real> rows(std::size_t count, std::size_t channels, std::uint64_t salt) {
  Rows<Real> result;
  for (std::size_t s = 0; s < count; ++s) {
    result.emplace_back();
    for (std::size_t c = 0; c < channels; ++c)
      result.back().push_back(Real(static_cast<int>(scatter(salt + s * 131 + c * 7) % 17) - 8) / Real(8));
  }
  return result;
}

/// The second way: E[i][row] one-hot over the rows of the tables. q a^T is one product with every row, from
/// which E picks; the values' term sums the weights of each row first, W = sum_j p_ij E_ij, and multiplies by
/// the table once.
template <class Real>
ScoresAndOut<Real> by_one_hot(const Shaw& scheme, const Rows<Real>& q, const Rows<Real>& k,
                              const Rows<Real>& v, const Rows<Real>& a, const Rows<Real>& b,
                              const Real& scale) {
  const std::size_t queries = q.size(), keys = k.size();
  const auto one_hot = [&](std::size_t i, std::size_t j) {
    std::vector<Real> row(a.size(), Real(0));
    std::int64_t distance = static_cast<std::int64_t>(j + queries) - static_cast<std::int64_t>(i + keys);
    for (; distance < -scheme.left; ++distance) {
    }
    for (; distance > scheme.right; --distance) {
    }
    row[static_cast<std::size_t>(distance + scheme.left)] = Real(1);
    return row;
  };
  ScoresAndOut<Real> result;
  const Rows<Real> content = attention_scores(q, k, scale), table = attention_scores(q, a, scale);
  result.scores = content;
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j)
      result.scores[i][j] = result.scores[i][j] + dot(table[i], one_hot(i, j));
  }
  const Rows<Real> weights = softmax(result.scores, false);
  result.out = weighted(weights, v);
  if (b.empty()) return result;
  Rows<Real> by_row;
  for (std::size_t i = 0; i < queries; ++i) {
    by_row.emplace_back(a.size(), Real(0));
    for (std::size_t j = 0; j < keys; ++j) {
      const std::vector<Real> hot = one_hot(i, j);
      for (std::size_t r = 0; r < hot.size(); ++r) by_row[i][r] = by_row[i][r] + weights[i][j] * hot[r];
    }
  }
  const Rows<Real> terms = weighted(by_row, b);
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t c = 0; c < terms[i].size(); ++c) result.out[i][c] = result.out[i][c] + terms[i][c];
  }
  return result;
}

TEST(shaw, rows_of_distances_by_hand) {
  const Shaw scheme{3, 2, true};
  EXPECT_EQ(shaw_rows(scheme), 6);
  const std::int64_t far = std::int64_t{1} << 41;
  const std::vector<std::pair<std::int64_t, std::int64_t>> rows = {
      {-far, 0}, {-4, 0}, {-3, 0}, {-2, 1}, {-1, 2}, {0, 3}, {1, 4}, {2, 5}, {3, 5}, {far, 5}};
  for (const auto& [distance, row] : rows) {
    EXPECT_EQ(shaw_row(scheme, 0, distance), row) << distance;
    EXPECT_EQ(shaw_row(scheme, 7 - distance, 7), row) << distance;
  }
  EXPECT_EQ(shaw_row({0, 0, true}, 5, 9), 0);
}

TEST(shaw, the_direct_sum_is_the_gather_from_one_product_with_the_tables) {
  const WorkingDigits scope(60);
  for (const auto& [scheme, queries, keys] : {std::tuple{Shaw{2, 1, true}, std::size_t{5}, std::size_t{5}},
                                              {Shaw{0, 3, false}, 3, 6},
                                              {Shaw{64, 8, true}, 1, 7},
                                              {Shaw{1, 0, true}, 4, 9}}) {
    const auto count = static_cast<std::size_t>(shaw_rows(scheme));
    const auto run = [&, &scheme = scheme, &queries = queries, &keys = keys]<class Real>(auto way,
                                                                                         const Real&) {
      return way(scheme, rows<Real>(queries, 6, 1), rows<Real>(keys, 6, 2), rows<Real>(keys, 4, 3),
                 rows<Real>(count, 6, 4), scheme.values ? rows<Real>(count, 4, 5) : Rows<Real>(),
                 Real(Real(1) / Real(3)));
    };
    const auto direct = run([](auto&&... x) { return shaw_attention(x...); }, Interval());
    const auto gathered = run([](auto&&... x) { return by_one_hot(x...); }, Interval());
    const auto bin = run([](auto&&... x) { return shaw_attention(x...); }, Bin100());
    const auto meet = [](const Interval& x, const Interval& y) {
      return lower(x) <= upper(y) && lower(y) <= upper(x) && Mpfr(upper(x) - lower(x)) < Mpfr(1e-50);
    };
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = 0; j < keys; ++j) EXPECT_TRUE(meet(direct.scores[i][j], gathered.scores[i][j]));
      for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_TRUE(meet(direct.out[i][c], gathered.out[i][c]));
        EXPECT_LT(abs(bin.out[i][c] - Bin100(Mpfr(lower(direct.out[i][c])).str(0))), Bin100(1e-45));
      }
    }
  }
}

}  // namespace
}  // namespace sextant
