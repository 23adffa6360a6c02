// permutation_equivariance: without mask, bias and positions, softmax attention commutes with every
// permutation of the tokens: Attn(PX) = P Attn(X). Teeth: attention that rotates by itself, adds a bias,
// masks, or drops a token. Blind to whatever treats all tokens alike (a wrong scale). Slack: each side is
// within the float32 attention bound of the exact value (contract.cpp), which is the same number on both
// sides, so twice the bound. Positional encodings break the law: each has a witness of at least three tokens
// in permutation_equivariance_test.cpp.
#include <algorithm>
#include <numeric>

#include "sextant/props/attention_law.hpp"

namespace sextant {
namespace {

/// Fisher-Yates by the case's seed; at least two tokens move where there are two.
std::vector<std::int64_t> permutation(const Case& c) {
  std::vector<std::int64_t> order(c.positions.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[scatter(c.seed + i) % i]);
  if (std::is_sorted(order.begin(), order.end()) && order.size() > 1) std::swap(order.front(), order.back());
  return order;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  Heads q = make_heads(c, 0);
  const Heads k = make_heads(c, 1), v = make_heads(c, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  const std::vector<std::int64_t> order = permutation(c);
  attend(trial.kernel, q, k, v, scale, Mask::none);
  Heads after = permuted(q, order);
  attend(trial.kernel, after, permuted(k, order), permuted(v, order), scale, Mask::none);
  std::vector<std::int64_t> all(order.size());
  std::iota(all.begin(), all.end(), 0);
  Measure measure;
  measure.unit = "abs";
  compare_out(
      measure, after, q, k, v, scale, [&](std::int64_t s) { return order[static_cast<std::size_t>(s)]; },
      [&](std::int64_t) { return all; });
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
