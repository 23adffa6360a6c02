// Shaw's relative terms as mathematics: which learned row serves a key and a query, scores and outputs over
// any number type (Shaw, Uszkoreit, Vaswani 2018, equations 3 and 4).
#pragma once
#include <algorithm>
#include <cstdint>

#include "sextant/reference/attention.hpp"
#include "sextant/reference/encoding.hpp"

namespace sextant {

/// Rows of a learned table: left + 1 + right.
[[nodiscard]] constexpr std::int64_t shaw_rows(const Shaw& scheme) { return scheme.left + 1 + scheme.right; }

/// The row that serves them: clip(key - query, -left, right) + left.
[[nodiscard]] constexpr std::int64_t shaw_row(const Shaw& scheme, std::int64_t query, std::int64_t key) {
  return std::clamp(key - query, -scheme.left, scheme.right) + scheme.left;
}

/// scale <q_i, k_j + a_row(i,j)>: query i stands at Sk - Sq + i, key j at j; a [left + 1 + right][D].
template <class Real>
[[nodiscard]] Rows<Real> shaw_scores(const Shaw& scheme, const Rows<Real>& q, const Rows<Real>& k,
                                     const Rows<Real>& a, const Real& scale) {
  Rows<Real> scores;
  for (std::size_t i = 0; i < q.size(); ++i) {
    scores.emplace_back();
    for (std::size_t j = 0; j < k.size(); ++j) {
      const auto row = static_cast<std::size_t>(
          shaw_row(scheme, static_cast<std::int64_t>(k.size() - q.size() + i), static_cast<std::int64_t>(j)));
      scores.back().push_back(scale * (dot(q[i], k[j]) + dot(q[i], a[row])));
    }
  }
  return scores;
}

/// out_i = sum_j p_ij (v_j + b_row(i,j)), p the softmax of the scores over all keys; b is empty where the
/// scheme has no term for values.
template <class Real>
[[nodiscard]] ScoresAndOut<Real> shaw_attention(const Shaw& scheme, const Rows<Real>& q, const Rows<Real>& k,
                                                const Rows<Real>& v, const Rows<Real>& a, const Rows<Real>& b,
                                                const Real& scale) {
  ScoresAndOut<Real> result;
  result.scores = shaw_scores(scheme, q, k, a, scale);
  const Rows<Real> weights = softmax(result.scores, false);
  result.out = weighted(weights, v);
  if (b.empty()) return result;
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j < k.size(); ++j) {
      const auto row = static_cast<std::size_t>(
          shaw_row(scheme, static_cast<std::int64_t>(k.size() - q.size() + i), static_cast<std::int64_t>(j)));
      for (std::size_t c = 0; c < b[row].size(); ++c)
        result.out[i][c] = result.out[i][c] + weights[i][j] * b[row][c];
    }
  }
  return result;
}

}  // namespace sextant
