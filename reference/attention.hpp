// Scores and softmax attention over any number type: out_i = sum_j p_ij v_j, p_i = softmax(scale <q_i, k_j>).
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace sextant {

template <class Real>
using Rows = std::vector<std::vector<Real>>;

template <class Real>
[[nodiscard]] Real dot(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum(0);
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}

/// scale <q_i, k_j> for every query and key.
template <class Real>
[[nodiscard]] Rows<Real> attention_scores(const Rows<Real>& q, const Rows<Real>& k, const Real& scale) {
  Rows<Real> scores;
  for (const std::vector<Real>& query : q) {
    scores.emplace_back();
    for (const std::vector<Real>& key : k) scores.back().push_back(scale * dot(query, key));
  }
  return scores;
}

/// Softmax weights of each query; with `causal`, query i of Sq sees the keys up to i + (Sk - Sq).
/// The shift that keeps exp in range is the first visible score: in real arithmetic any shift gives the same
/// weights.
template <class Real>
[[nodiscard]] Rows<Real> softmax(Rows<Real> scores, bool causal) {
  using std::exp;
  const std::size_t queries = scores.size();
  for (std::size_t i = 0; i < queries; ++i) {
    std::vector<Real>& row = scores[i];
    const std::size_t visible = causal ? std::min(row.size(), i + 1 + row.size() - queries) : row.size();
    const Real shift = visible > 0 ? row[0] : Real(0);
    Real sum(0);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = j < visible ? Real(exp(Real(row[j] - shift))) : Real(0);
      sum = sum + row[j];
    }
    for (Real& weight : row) weight = weight / sum;
  }
  return scores;
}

/// Softmax attention of one head: q [Sq][D], k [Sk][D], v [Sk][D].
template <class Real>
[[nodiscard]] Rows<Real> attention(const Rows<Real>& q, const Rows<Real>& k, const Rows<Real>& v,
                                   const Real& scale, bool causal) {
  const Rows<Real> weights = softmax(attention_scores(q, k, scale), causal);
  Rows<Real> out;
  for (const std::vector<Real>& row : weights) {
    out.emplace_back(v.empty() ? 0 : v[0].size(), Real(0));
    for (std::size_t j = 0; j < v.size(); ++j) {
      for (std::size_t c = 0; c < v[j].size(); ++c) out.back()[c] = out.back()[c] + row[j] * v[j][c];
    }
  }
  return out;
}

}  // namespace sextant
