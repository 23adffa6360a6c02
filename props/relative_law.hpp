// What the laws of relative terms share: the call between canaries, scores and out against the exact ones.
//
// Slack. Shaw's score is an inner product of 2 D terms, (q, q) with (k, a), however it is ordered: apart or
// added to the key first, scaled before or after, a product passes at most 2 D + 2 roundings (D = 1 apart: 1
// of the product, 1 that joins, 1 of the scale's product, and the scale's own). Transformer-XL's is one of 4
// D terms, (q, u, q, v) with (k, k, R, R): adding u to q first rounds once and spares more. Hence logit_bound
// with so many channels and the magnitudes of all terms. A value with its term is two summands per key.
#pragma once
#include "sextant/props/attention_law.hpp"

namespace sextant {

/// A learned table of a case, from a stream of its own.
struct DrawnTable {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  [[nodiscard]] std::int64_t row_size() const;
  /// A row [D], of a head where the table has heads.
  [[nodiscard]] const float* row(std::int64_t row, std::int64_t head) const;
  /// All rows of a head, or their magnitudes.
  template <class Real>
  [[nodiscard]] Rows<Real> rows(std::int64_t head, bool magnitudes = false) const {
    Rows<Real> result;
    for (std::int64_t r = 0; r < shape.front(); ++r) {
      result.emplace_back();
      for (std::int64_t c = 0; c < shape.back(); ++c) {
        const double value = row(r, head)[c];
        result.back().push_back(Real(magnitudes ? std::fabs(value) : value));
      }
    }
    return result;
  }
};
[[nodiscard]] DrawnTable drawn_table(const Case& c, int stream, std::vector<std::int64_t> shape);

struct RelativeInputs {
  Heads q, k, v;
  std::vector<DrawnTable> tables;
  double scale;
};
/// q, k and v of a case, 1/sqrt(D); queries are the last of the keys.
[[nodiscard]] RelativeInputs relative_inputs(const Case& c);

/// Scores and out of a kernel.
struct RelativeOutputs {
  std::vector<float> scores, out;
};
/// Throws Misbehaved where the kernel wrote outside its outputs or changed an input.
[[nodiscard]] RelativeOutputs run_relative(const Kernel& kernel, const Encoding& encoding,
                                           const RelativeInputs& in);

/// The exact scores of one head [Sq][Sk], and the sums of the magnitudes of their terms; both scaled.
struct HeadTruth {
  Rows<Wide> scores;
  Rows<double> magnitudes;
};
/// Judges a kernel's results. exact(b, h) gives a HeadTruth, term(i, j) the row [D] added to the value of key
/// j for query i, or nullptr. `score_terms` are summed in a score.
template <class Exact, class Term>
[[nodiscard]] Outcome judge_relative(const RelativeInputs& in, const RelativeOutputs& got,
                                     std::int64_t score_terms, Exact exact, Term term) {
  Measure measure;
  measure.unit = "abs";
  const auto queries = static_cast<std::size_t>(in.q.tokens), keys = static_cast<std::size_t>(in.k.tokens);
  std::size_t score_at = 0;
  for (std::int64_t b = 0; b < in.q.batch; ++b) {
    for (std::int64_t h = 0; h < in.q.heads; ++h) {
      const HeadTruth truth = exact(b, h);
      for (std::size_t i = 0; i < queries; ++i) {
        const auto query = static_cast<std::int64_t>(i);
        std::vector<double> bounds;
        for (std::size_t j = 0; j < keys; ++j) {
          bounds.push_back(logit_bound(score_terms, 1, truth.magnitudes[i][j]));
          const double want = truth.scores[i][j].value();
          const float score = got.scores[score_at++];
          take_distance(measure, score, want, bounds.back() * kTruthInflate,
                        {query, static_cast<std::int64_t>(j), "score", score, want});
        }
        const QueryTruth softmax = query_truth(truth.scores[i], bounds, 2);
        for (std::int64_t c = 0; c < in.v.channels; ++c) {
          if (!claims(softmax)) {
            measure.skip();
            continue;
          }
          const auto value = [&](std::size_t j) {
            const float* row = term(query, static_cast<std::int64_t>(j));
            return std::pair{double{in.v.in_head(b, static_cast<std::int64_t>(j), h)[c]},
                             row ? double{row[c]} : 0};
          };
          const OutTruth out = out_truth(
              softmax,
              [&](std::size_t j) {
                const auto [own, added] = value(j);
                return own + added;
              },
              [&](std::size_t j) {
                const auto [own, added] = value(j);
                return std::fabs(own) + std::fabs(added);
              });
          const float result = got.out[static_cast<std::size_t>(
              ((b * in.q.tokens + query) * in.q.heads + h) * in.v.channels + c)];
          take_distance(measure, result, out.exact, out.limit, {query, c, "out", result, out.exact});
        }
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace sextant
