// rope_explicit_positions: a token's rotation depends on its own position and on nothing else: permuting
// position ids permutes rows, repeated positions give equal rows, documents that restart in one row of ids,
// in a batch of them ([batch, tokens]) or packed by their lengths (thd) rotate as they would alone, beyond
// 2^24 too. Teeth: positions taken as consecutive or as sorted, a row of the first batch for all, a cache
// indexed by the token, positions through float32 in one path only. Blind to a map of positions that every
// call shares. Equal bits where the contract claims them, else within the sum of both bounds.
#include <algorithm>
#include <numeric>

#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

/// The tokens of a case in another order, by seed.
std::vector<std::int64_t> drawn_order(const Case& c) {
  std::vector<std::int64_t> order(c.positions.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[scatter(c.seed + i) % i]);
  return order;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const std::int64_t tokens = c.tokens();
  const Heads q = make_heads(c, 0);
  Heads want = q;
  rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, want);
  const auto place = [&](std::int64_t s) { return c.positions[static_cast<std::size_t>(s)]; };
  SameRotation same(trial);
  // Rotates `x` at `positions`; its head (b, s, h) is the case's head source(b, s, h).
  const auto compare = [&](Heads x, const std::vector<std::int64_t>& positions, const auto& source) {
    rotate_at(trial.kernel, *c.encoding, c.seq_len, positions, x);
    each_head(x, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      const HeadIndex at = source(b, s, h);
      same.judge(place(at.s), x.in_head(b, s, h), x.out_head(b, s, h), want.out_head(at.b, at.s, at.h));
    });
  };

  // Permuted.
  const std::vector<std::int64_t> order = drawn_order(c);
  std::vector<std::int64_t> permuted;
  for (const std::int64_t s : order) permuted.push_back(place(s));
  const auto from_order = [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    return HeadIndex{b, order[static_cast<std::size_t>(s)], h};
  };
  compare(gathered(q, q.batch, tokens, q.heads, from_order), permuted, from_order);

  // Two documents in one row of ids, the second one restarting: every position stands there twice.
  std::vector<std::int64_t> packed = c.positions;
  packed.insert(packed.end(), permuted.begin(), permuted.end());
  const auto from_packed = [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    return s < tokens ? HeadIndex{b, s, h} : from_order(b, s - tokens, h);
  };
  compare(gathered(q, q.batch, 2 * tokens, q.heads, from_packed), packed, from_packed);

  // The same two documents as the rows of a batch with ids of their own.
  const auto from_batch = [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    return b == 0 ? HeadIndex{0, s, h} : from_order(0, s, h);
  };
  compare(gathered(q, 2, tokens, q.heads, from_batch), packed, from_batch);

  // And in one row of tokens, the first document cut short.
  const std::vector<Layout>& layouts = trial.kernel.capabilities.layouts;
  if (std::find(layouts.begin(), layouts.end(), Layout::thd) != layouts.end()) {
    const std::int64_t cut =
        1 + static_cast<std::int64_t>(scatter(c.seed) % static_cast<std::uint64_t>(tokens));
    std::vector<std::int64_t> restarting(c.positions.begin(), c.positions.begin() + cut);
    restarting.insert(restarting.end(), permuted.begin(), permuted.end());
    const auto from_row = [&](std::int64_t, std::int64_t s, std::int64_t h) {
      return s < cut ? HeadIndex{0, s, h} : from_order(0, s - cut, h);
    };
    Heads row = gathered(q, 1, cut + tokens, q.heads, from_row);
    rotate_packed(trial.kernel, *c.encoding, c.seq_len, restarting,
                  {0, static_cast<std::int32_t>(cut), static_cast<std::int32_t>(cut + tokens)}, row);
    each_head(row, [&](std::int64_t, std::int64_t s, std::int64_t h) {
      const HeadIndex at = from_row(0, s, h);
      same.judge(place(at.s), row.in_head(0, s, h), row.out_head(0, s, h), want.out_head(at.b, at.s, at.h));
    });
  }
  return same.outcome();
}

}  // namespace

Law rope_explicit_positions() {
  Law law;
  law.id = "rope_explicit_positions";
  law.title = "a token rotates by its own position: permuted, repeated, restarting, per batch and packed";
  law.blind_to = "a map of positions that every call shares";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.min_tokens = 2;
    space.negative_positions = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
