// permutation_equivariance: without mask, bias and positions, softmax attention commutes with every
// permutation of the tokens: Attn(PX) = P Attn(X). Teeth: attention that rotates by itself, adds a bias,
// masks, or drops a token. Blind to whatever treats all tokens alike (a wrong scale). Slack: each side is
// within the float32 attention bound of the exact value (contract.cpp), which is the same number on both
// sides, so twice the bound. Positional encodings break the law: each has a witness of at least three tokens
// in permutation_equivariance_test.cpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/call.hpp"

namespace sextant {
namespace {

/// Fisher-Yates by the case's seed; at least two tokens move where there are two.
std::vector<std::size_t> permutation(const Case& c) {
  std::vector<std::size_t> order(c.positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[scatter(c.seed + i) % i]);
  if (std::is_sorted(order.begin(), order.end()) && order.size() > 1) std::swap(order.front(), order.back());
  return order;
}

/// The exact weights and bounds of one query, in double from exact float inputs; used for the size of bounds
/// only.
struct QueryBound {
  std::vector<double> weights;
  AttentionBound bound;
};
QueryBound bound_of(const float* query, const std::vector<const float*>& keys, std::int64_t channels,
                    double scale) {
  QueryBound result;
  double worst = 0;
  for (const float* key : keys) {
    double score = 0;
    double magnitude = 0;
    for (std::int64_t d = 0; d < channels; ++d) {
      score += double{query[d]} * key[d];
      magnitude += std::fabs(double{query[d]} * key[d]);
    }
    result.weights.push_back(score * scale);
    worst = std::max(worst, logit_bound(channels, scale, magnitude));
  }
  const double top = *std::max_element(result.weights.begin(), result.weights.end());
  double sum = 0;
  for (double& weight : result.weights) sum += weight = std::exp(weight - top);
  for (double& weight : result.weights) weight /= sum;
  result.bound = attention_bound(static_cast<std::int64_t>(keys.size()), worst);
  return result;
}

std::vector<float> permuted(const Heads& heads, const std::vector<std::size_t>& order) {
  std::vector<float> result(heads.in.size());
  const auto row = static_cast<std::size_t>(heads.heads * heads.channels);
  const auto tokens = static_cast<std::size_t>(heads.tokens);
  for (std::size_t b = 0; b < static_cast<std::size_t>(heads.batch); ++b) {
    for (std::size_t s = 0; s < tokens; ++s) {
      std::copy_n(heads.in.begin() + static_cast<std::ptrdiff_t>((b * tokens + order[s]) * row), row,
                  result.begin() + static_cast<std::ptrdiff_t>((b * tokens + s) * row));
    }
  }
  return result;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  Heads v = make_heads(c, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  const auto run = [&](std::vector<float> q_in, std::vector<float> k_in, std::vector<float> v_in) {
    std::vector<float> out(q_in.size(), NAN);
    const auto view = [&](std::vector<float>& data, std::int64_t heads) {
      return dense(data.data(), DType::f32, c.batch, c.tokens(), heads, c.head_dim);
    };
    trial.kernel.attention({view(q_in, c.heads),
                            view(k_in, c.kv_heads),
                            view(v_in, c.kv_heads),
                            scale,
                            Mask::none,
                            {},
                            {},
                            view(out, c.heads),
                            {}});
    return out;
  };
  const std::vector<std::size_t> order = permutation(c);
  q.out = run(q.in, k.in, v.in);
  Heads q_permuted = q;
  q_permuted.out = run(permuted(q, order), permuted(k, order), permuted(v, order));

  Measure measure;
  measure.unit = "abs";
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const std::int64_t kv_head = h / (c.heads / c.kv_heads);
      std::vector<const float*> keys;
      for (std::int64_t j = 0; j < c.tokens(); ++j) keys.push_back(k.in_head(b, j, kv_head));
      for (std::int64_t s = 0; s < c.tokens(); ++s) {
        const auto source = static_cast<std::int64_t>(order[static_cast<std::size_t>(s)]);
        const QueryBound bound = bound_of(q.in_head(b, source, h), keys, c.head_dim, scale);
        for (std::int64_t d = 0; d < c.head_dim; ++d) {
          double weighted = 0;
          double total = 0;
          for (std::int64_t j = 0; j < c.tokens(); ++j) {
            const double value = std::fabs(double{v.in_head(b, j, kv_head)[d]});
            weighted += bound.weights[static_cast<std::size_t>(j)] * value;
            total += value;
          }
          const float got = q_permuted.out_head(b, s, h)[d];
          const float want = q.out_head(b, source, h)[d];
          const double error = std::fabs(double{got} - double{want});
          // The weights here carry double roundings, hence the last factor.
          const double limit =
              2 * (weighted * bound.bound.relative + total * bound.bound.absolute_per_value) * (1 + 0x1p-30);
          measure.take(std::isfinite(error) ? error : INFINITY, limit, {source, d, "out", got, want});
        }
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law permutation_equivariance() {
  Law law;
  law.id = "permutation_equivariance";
  law.title =
      "attention without mask and positions commutes with permutations of the tokens: Attn(PX) = P Attn(X)";
  law.blind_to = "what treats all tokens alike: a wrong scale, a wrong value projection";
  law.operations = {Operation::attention};
  law.needs_encoding = false;
  law.space = [](const std::optional<Encoding>&, std::int64_t, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space;
    space.min_tokens = 3;
    space.consecutive = true;
    space.bounded_inputs = true;
    return space;
  };
  law.check = check;
  return law;
}

}  // namespace sextant
