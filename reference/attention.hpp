// Scores and softmax attention over any number type: out_i = sum_j p_ij v_j, p_i = softmax(scale <q_i, k_j>).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
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

/// The keys that a query sees: first <= j < last.
struct VisibleKeys {
  std::size_t first, last;
};

/// Softmax weights of each query over the keys that `visible(query, keys)` lets it see.
/// The shift that keeps exp in range is the first visible score: in real arithmetic any shift gives the same
/// weights.
template <class Real, class Visible>
requires(!std::is_convertible_v<Visible, bool>)
    [[nodiscard]] Rows<Real> softmax(Rows<Real> scores, Visible visible) {
  using std::exp;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::vector<Real>& row = scores[i];
    const VisibleKeys keys = visible(i, row.size());
    const Real shift = keys.first < keys.last ? row[keys.first] : Real(0);
    Real sum(0);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = j >= keys.first && j < keys.last ? Real(exp(Real(row[j] - shift))) : Real(0);
      sum = sum + row[j];
    }
    for (Real& weight : row) weight = weight / sum;
  }
  return scores;
}

/// With `causal`, query i of Sq sees the keys up to i + (Sk - Sq).
template <class Real>
[[nodiscard]] Rows<Real> softmax(const Rows<Real>& scores, bool causal) {
  return softmax(scores, [causal, queries = scores.size()](std::size_t i, std::size_t keys) {
    return VisibleKeys{0, causal ? std::min(keys, i + 1 + keys - queries) : keys};
  });
}

/// sum_j weights_ij v_j.
template <class Real>
[[nodiscard]] Rows<Real> weighted(const Rows<Real>& weights, const Rows<Real>& v) {
  Rows<Real> out;
  for (const std::vector<Real>& row : weights) {
    out.emplace_back(v.empty() ? 0 : v[0].size(), Real(0));
    for (std::size_t j = 0; j < v.size(); ++j) {
      for (std::size_t c = 0; c < v[j].size(); ++c) out.back()[c] = out.back()[c] + row[j] * v[j][c];
    }
  }
  return out;
}

/// Softmax attention of one head: q [Sq][D], k [Sk][D], v [Sk][D]; `mask` as softmax takes it.
template <class Real, class Mask>
[[nodiscard]] Rows<Real> attention(const Rows<Real>& q, const Rows<Real>& k, const Rows<Real>& v,
                                   const Real& scale, Mask mask) {
  return weighted(softmax(attention_scores(q, k, scale), mask), v);
}

/// What attention with relative terms gives for one head: scores [Sq][Sk], and out [Sq][D].
template <class Real>
struct ScoresAndOut {
  Rows<Real> scores, out;
};

}  // namespace sextant
