#include "sextant/props/attention_law.hpp"

#include <algorithm>

#include "sextant/props/guarded.hpp"

namespace sextant {

Heads drawn_heads(const Case& c, int stream, std::int64_t tokens, std::int64_t heads) {
  const auto size = static_cast<std::size_t>(c.batch * tokens * heads * c.head_dim);
  Heads x{c.batch,   tokens, heads, c.head_dim, std::vector<float>(size), std::vector<float>(size, NAN),
          DType::f32};
  for (std::size_t i = 0; i < size; ++i)
    x.in[i] = input_element(c, stream, static_cast<std::int64_t>(i), c.head_dim);
  return x;
}

Heads permuted(const Heads& x, const std::vector<std::int64_t>& order) {
  Heads y = x;
  for (std::int64_t b = 0; b < x.batch; ++b) {
    for (std::int64_t s = 0; s < x.tokens; ++s)
      std::copy_n(x.in_head(b, order[static_cast<std::size_t>(s)], 0), x.heads * x.channels,
                  y.in_head(b, s, 0));
  }
  return y;
}

QueryTruth query_truth(const std::vector<Wide>& scores, const std::vector<double>& bounds,
                       std::int64_t value_terms) {
  QueryTruth truth;
  const auto below = [](const Wide& a, const Wide& b) { return (a - b).value() < 0; };
  const Wide top = *std::max_element(scores.begin(), scores.end(), below);
  double sum = 0, spread = 0;
  for (const Wide& score : scores) {
    const double depth = (score - top).value();
    spread = std::max(spread, -depth);
    sum += truth.weights.emplace_back(std::exp(depth));
  }
  for (double& weight : truth.weights) weight /= sum;
  truth.bound = attention_bound(static_cast<std::int64_t>(scores.size()) * value_terms,
                                *std::max_element(bounds.begin(), bounds.end()), spread);
  return truth;
}

QueryTruth query_truth(const float* query, const std::vector<const float*>& keys, std::int64_t channels,
                       double scale) {
  std::vector<Wide> scores;
  std::vector<double> bounds;
  for (const float* key : keys) {
    Wide score = 0;
    double magnitude = 0;
    for (std::int64_t d = 0; d < channels; ++d) {
      const double product = double{query[d]} * key[d];  // exact
      score = score + product;
      magnitude += std::fabs(product);
    }
    scores.push_back(scale * score);
    bounds.push_back(logit_bound(channels, scale, magnitude));
  }
  return query_truth(scores, bounds);
}

void attend(const Kernel& kernel, Heads& q, const Heads& k, const Heads& v, double scale, Mask mask,
            std::vector<std::int32_t> cu_seqlens) {
  Guarded q_in(q.in), k_in(k.in), v_in(v.in),
      out(q.in.size() / static_cast<std::size_t>(q.channels) * static_cast<std::size_t>(v.channels));
  const auto view = [](Guarded& data, const Heads& x, std::int64_t channels) {
    return dense(data.data(), DType::f32, x.batch, x.tokens, x.heads, channels);
  };
  const std::vector<std::int32_t> before = cu_seqlens;
  kernel.attention({view(q_in, q, q.channels),
                    view(k_in, k, k.channels),
                    view(v_in, v, v.channels),
                    scale,
                    mask,
                    {},
                    cu_seqlens.empty() ? Tensor{} : dense(cu_seqlens.data(), DType::i32, cu_seqlens.size()),
                    view(out, q, v.channels),
                    {}});
  if (cu_seqlens != before) throw Misbehaved("the kernel changed its input cu_seqlens");
  for (const auto& [data, name] : {std::pair{&q_in, "q"}, {&k_in, "k"}, {&v_in, "v"}}) {
    data->check_margins(name);
    data->check_unchanged(name);
  }
  out.check_margins("out");
  q.out = out.content();
}

}  // namespace sextant
