// Transformer-XL's relative terms as mathematics: the list of distances, their sinusoids, scores and outputs
// over any number type (Dai et al. 2019, section 3.3; XLNet's and the conformer's ways to write it).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/reference/attention.hpp"
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {

/// Rows of R for `queries` and `keys`. XLNet lists the distances keys, .., 1 - queries, the conformer those
/// from keys - 1 on.
[[nodiscard]] constexpr std::int64_t transformer_xl_rows(const TransformerXl& scheme, std::int64_t queries,
                                                         std::int64_t keys) {
  return keys + queries - (scheme.form == TransformerXl::Form::conformer ? 1 : 0);
}

/// Row of R for a distance query - key: keys - distance in XLNet, keys - 1 - distance in the conformer.
[[nodiscard]] constexpr std::int64_t transformer_xl_row(const TransformerXl& scheme, std::int64_t keys,
                                                        std::int64_t distance) {
  return keys - distance - (scheme.form == TransformerXl::Form::conformer ? 1 : 0);
}

/// The distance whose sinusoid stands for `distance`: clipped to +-clamp where that is > 0.
[[nodiscard]] constexpr std::int64_t clamped_distance(const TransformerXl& scheme, std::int64_t distance) {
  return scheme.clamp > 0 ? std::clamp(distance, -scheme.clamp, scheme.clamp) : distance;
}

/// The RoPE whose pairs turn by the angles of the sinusoids: rel w_i, w_i = 10000^(-2i/dim).
[[nodiscard]] inline Rope rotary_of(const TransformerXl& scheme) {
  Rope rope;
  rope.head_dim = rope.dim = scheme.dim;
  rope.theta = 10000;
  return rope;
}

/// The sinusoidal encoding whose row at a clamped distance the scheme projects: sines, then cosines, in
/// XLNet; interleaved in the conformer.
[[nodiscard]] inline Sinusoidal sinusoids_of(const TransformerXl& scheme) {
  Sinusoidal sinusoids;
  sinusoids.dim = scheme.dim;
  sinusoids.layout =
      scheme.form == TransformerXl::Form::xlnet ? Sinusoidal::Layout::B : Sinusoidal::Layout::C;
  return sinusoids;
}

/// The row [dim] that the scheme projects for a distance query - key: sin and cos of rel w_i, rel clamped.
template <class Real>
[[nodiscard]] std::vector<Real> transformer_xl_sinusoids(const TransformerXl& scheme, std::int64_t distance) {
  using std::cos;
  using std::pow;
  using std::sin;
  std::vector<Real> row(static_cast<std::size_t>(scheme.dim), Real(0));
  for (std::int64_t i = 0; i < scheme.dim / 2; ++i) {
    const Real exponent = Real(-2 * i) / Real(scheme.dim);
    const Real angle = Real(clamped_distance(scheme, distance)) * Real(pow(Real(10000), exponent));
    const SinusoidColumns columns = sinusoid_columns(sinusoids_of(scheme), i);
    row[static_cast<std::size_t>(columns.sine)] = Real(sin(angle));
    row[static_cast<std::size_t>(columns.cosine)] = Real(cos(angle));
  }
  return row;
}

/// scale (<q_i + u, k_j> + <q_i + v, R_row(i,j)>): query i stands at Sk - Sq + i, key j at j; u and v [D], R
/// [rows][D], of one head.
template <class Real>
[[nodiscard]] Rows<Real> transformer_xl_scores(const TransformerXl& scheme, const Rows<Real>& q,
                                               const Rows<Real>& k, const std::vector<Real>& u,
                                               const std::vector<Real>& v, const Rows<Real>& r,
                                               const Real& scale) {
  const auto plus = [](std::vector<Real> x, const std::vector<Real>& y) {
    for (std::size_t c = 0; c < x.size(); ++c) x[c] = x[c] + y[c];
    return x;
  };
  const auto keys = static_cast<std::int64_t>(k.size());
  Rows<Real> scores;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const std::vector<Real> content = plus(q[i], u), position = plus(q[i], v);
    scores.emplace_back();
    for (std::size_t j = 0; j < k.size(); ++j) {
      const std::int64_t distance =
          static_cast<std::int64_t>(k.size() - q.size() + i) - static_cast<std::int64_t>(j);
      const auto row = static_cast<std::size_t>(transformer_xl_row(scheme, keys, distance));
      scores.back().push_back(scale * (dot(content, k[j]) + dot(position, r[row])));
    }
  }
  return scores;
}

/// The softmax of the scores over all keys, times the values.
template <class Real>
[[nodiscard]] ScoresAndOut<Real> transformer_xl_attention(const TransformerXl& scheme, const Rows<Real>& q,
                                                          const Rows<Real>& k, const Rows<Real>& values,
                                                          const std::vector<Real>& u,
                                                          const std::vector<Real>& v, const Rows<Real>& r,
                                                          const Real& scale) {
  ScoresAndOut<Real> result;
  result.scores = transformer_xl_scores(scheme, q, k, u, v, r, scale);
  result.out = weighted(softmax(result.scores, false), values);
  return result;
}

}  // namespace sextant
