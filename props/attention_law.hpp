// What the laws of attention share: the exact softmax of one query, how far a float32 kernel may be from it,
// and calls between canaries.
#pragma once
#include <cmath>
#include <vector>

#include "sextant/props/call.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {

/// Element `index` of `stream` of a case, as a tensor [batch, tokens, heads, head_dim] of any extents.
[[nodiscard]] Heads drawn_heads(const Case& c, int stream, std::int64_t tokens, std::int64_t heads);

/// Token s of the result is token order[s].
[[nodiscard]] Heads permuted(const Heads& x, const std::vector<std::int64_t>& order);

/// One head as rows [tokens][channels] of a number type; or the magnitudes of its elements.
template <class Real>
[[nodiscard]] Rows<Real> head_rows(const Heads& x, std::int64_t b, std::int64_t h, bool magnitudes = false) {
  Rows<Real> rows;
  for (std::int64_t s = 0; s < x.tokens; ++s) {
    rows.emplace_back();
    for (std::int64_t c = 0; c < x.channels; ++c) {
      const double value = x.in_head(b, s, h)[c];
      rows.back().push_back(Real(magnitudes ? std::fabs(value) : value));
    }
  }
  return rows;
}

/// Truth and its bounds are formed in double-doubles and doubles, and so are limits, which this factor
/// inflates for it. With n keys and D the worst bound of a score: magnitudes are sums of some hundred terms,
/// right to 2^-44; a score is within 2^-51 of its magnitude, of which its bound is at least 2^-23; a weight's
/// exponent x errs by x 2^-53, x < 746, exp by 2^-52, their sum and quotient by (n + 1) 2^-53, where the
/// relative bound is above (2 min(x, 104) + 4 + 3 n) u.
inline constexpr double kTruthInflate = 1 + 0x1p-25;

/// The exact softmax of one query, and how far a kernel's out may be from it.
struct QueryTruth {
  std::vector<double> weights;
  AttentionBound bound;
};
/// From exact scores and the bound of each; `value_terms` are summed per key (a value and its term: 2).
[[nodiscard]] QueryTruth query_truth(const std::vector<Wide>& scores, const std::vector<double>& bounds,
                                     std::int64_t value_terms = 1);
/// The same of bare attention: scale <query, key> for the keys at hand.
[[nodiscard]] QueryTruth query_truth(const float* query, const std::vector<const float*>& keys,
                                     std::int64_t channels, double scale);

/// One channel of out: exact, and the limit of |kernel - exact|.
struct OutTruth {
  double exact, limit;
};
/// value(j) is a key's value in this channel, magnitude(j) the sum of the magnitudes of its terms.
template <class Value, class Magnitude>
[[nodiscard]] OutTruth out_truth(const QueryTruth& query, Value value, Magnitude magnitude) {
  double exact = 0, weighted = 0, total = 0;
  for (std::size_t j = 0; j < query.weights.size(); ++j) {
    exact += query.weights[j] * value(j);
    weighted += query.weights[j] * magnitude(j);
    total += magnitude(j);
  }
  const AttentionBound& bound = query.bound;
  return {exact,
          (weighted * bound.relative + total * bound.absolute_per_value + bound.absolute) * kTruthInflate};
}

/// A bound on the weights of this size says nothing: the element counts as "no claim".
[[nodiscard]] inline bool claims(const QueryTruth& query) { return query.bound.relative < kNoClaim; }

/// |got - want| against a limit; infinite where either is not finite.
inline void take_distance(Measure& measure, double got, double want, double limit, const Witness& where) {
  const double error = std::fabs(got - want);
  measure.take(std::isfinite(error) ? error : INFINITY, limit, where);
}

/// softmax(scale q k) v by the kernel, with a mask; q.out receives it. Throws Misbehaved where it wrote
/// outside its output or changed an input.
void attend(const Kernel& kernel, Heads& q, const Heads& k, const Heads& v, double scale, Mask mask,
            std::vector<std::int32_t> cu_seqlens = {});

/// The rows of q.out against those of `want`, where query s of q is query source(s) of want and sees the keys
/// `keys(source(s))` of it: both lie within the bound of the same exact value, hence twice the bound. A query
/// whose source is < 0 is not compared.
template <class Source, class Keys>
void compare_out(Measure& measure, const Heads& q, const Heads& want, const Heads& k, const Heads& v,
                 double scale, Source source, Keys keys) {
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t h = 0; h < q.heads; ++h) {
      const std::int64_t kv_head = h / (q.heads / k.heads);
      for (std::int64_t s = 0; s < q.tokens; ++s) {
        const std::int64_t from = source(s);
        if (from < 0) continue;
        std::vector<const float*> seen, values;
        for (const std::int64_t j : keys(from)) {
          seen.push_back(k.in_head(b, j, kv_head));
          values.push_back(v.in_head(b, j, kv_head));
        }
        const QueryTruth truth = query_truth(want.in_head(b, from, h), seen, k.channels, scale);
        for (std::int64_t c = 0; c < v.channels; ++c) {
          if (!claims(truth)) {
            measure.skip();
            continue;
          }
          const double limit = 2 * out_truth(
                                       truth, [&](std::size_t j) { return double{values[j][c]}; },
                                       [&](std::size_t j) { return std::fabs(double{values[j][c]}); })
                                       .limit;
          const float got = q.out_head(b, s, h)[c], other = want.out_head(b, from, h)[c];
          take_distance(measure, got, other, limit, {from, c, "out", got, other});
        }
      }
    }
  }
}

}  // namespace sextant
