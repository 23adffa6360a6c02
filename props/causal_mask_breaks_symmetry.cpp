// causal_mask_breaks_symmetry: with a causal mask and no position encoding, the row of a token does not
// change when tokens before it are permuted among themselves, and the mask lets a token count: with q = k = 0
// and v marking token 0, query i of the keys gives 1/(i+1). (That a permutation across the diagonal changes
// rows stands in the test, by intervals.) Teeth: a mask that is missing or one off, attention that adds a
// bias, rotates by itself, or sees the last keys alone. Blind to whatever treats all visible tokens alike.
// Slack: both sides lie within the bound of one exact value (contract.cpp): twice the bound; the count
// against the exact 1/(i+1), with exact logits.
#include <algorithm>
#include <numeric>

#include "sextant/props/attention_law.hpp"
#include "sextant/reference/scatter.hpp"

namespace sextant {
namespace {

/// The first `moved` of `tokens` in another order, by seed.
std::vector<std::int64_t> early_permutation(const Case& c, std::int64_t tokens, std::int64_t moved) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tokens));
  std::iota(order.begin(), order.end(), 0);
  for (auto i = static_cast<std::size_t>(moved); i > 1; --i)
    std::swap(order[i - 1], order[scatter(c.seed + i) % i]);
  if (moved > 1 && order[0] == 0 && order[1] == 1) std::swap(order[0], order[1]);
  return order;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const std::int64_t keys = c.key_tokens(), past = keys - c.tokens();
  if (past < 0 || keys < 2) return unsupported("fewer keys than queries, or a single key");
  Heads q = drawn_heads(c, 0, c.tokens(), c.heads);
  Heads k = drawn_heads(c, 1, keys, c.kv_heads), v = drawn_heads(c, 2, keys, c.kv_heads);
  const double scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  Measure measure;
  measure.unit = "abs";

  // Queries stay: those at or after `moved` see the same keys in another order.
  const std::int64_t moved =
      2 + static_cast<std::int64_t>(scatter(c.seed) % static_cast<std::uint64_t>(keys - 1));
  const std::vector<std::int64_t> order = early_permutation(c, keys, moved);
  attend(trial.kernel, q, k, v, scale, Mask::causal);
  Heads after = q;
  attend(trial.kernel, after, permuted(k, order), permuted(v, order), scale, Mask::causal);
  compare_out(
      measure, after, q, k, v, scale, [&](std::int64_t s) { return s + past + 1 >= moved ? s : -1; },
      [&](std::int64_t s) {
        std::vector<std::int64_t> seen(static_cast<std::size_t>(s + past + 1));
        std::iota(seen.begin(), seen.end(), 0);
        return seen;
      });

  // The count.
  std::fill(q.in.begin(), q.in.end(), 0.0F);
  std::fill(k.in.begin(), k.in.end(), 0.0F);
  std::fill(v.in.begin(), v.in.end(), 0.0F);
  for (std::int64_t b = 0; b < v.batch; ++b) std::fill_n(v.in_head(b, 0, 0), v.heads * v.channels, 1.0F);
  attend(trial.kernel, q, k, v, scale, Mask::causal);
  for (std::int64_t s = 0; s < q.tokens; ++s) {
    const std::int64_t seen = s + past + 1;
    const double share = 1 / static_cast<double>(seen);
    const AttentionBound bound = attention_bound(seen, 0, 0);
    const double limit = (share * bound.relative + bound.absolute_per_value + bound.absolute) * kTruthInflate;
    for (std::int64_t b = 0; b < q.batch; ++b) {
      for (std::int64_t h = 0; h < q.heads; ++h) {
        for (std::int64_t d = 0; d < v.channels; ++d) {
          const float got = q.out_head(b, s, h)[d];
          take_distance(measure, got, share, limit, {s + past, d, "count", got, share});
        }
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law causal_mask_breaks_symmetry() {
  Law law;
  law.id = "causal_mask_breaks_symmetry";
  law.title =
      "under a causal mask a row ignores the order of the tokens before it, and their number it knows: "
      "1/(i+1)";
  law.blind_to = "what treats all visible tokens alike: a wrong scale";
  law.operations = {Operation::attention};
  law.needs_encoding = false;
  law.space = [](const std::optional<Encoding>&, std::int64_t, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space;
    space.min_tokens = 2;
    space.consecutive = true;
    space.bounded_inputs = true;
    space.keys = true;
    return space;
  };
  law.check = check;
  return law;
}

}  // namespace sextant
