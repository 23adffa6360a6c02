// rope_gqa_order: with grouped queries, rotating the keys and then expanding them to the heads of q equals
// expanding and then rotating. Teeth: key heads rotated by the index of their group, the repeat counted into
// positions, a group's second head rotated twice. Blind to whatever all key heads share. Equal bits where
// the contract claims them, else within the sum of both bounds.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  if (c.heads == c.kv_heads) return unsupported("as many heads of q as of k: nothing is grouped");
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  const auto key_of = [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    return HeadIndex{b, s, h / (c.heads / c.kv_heads)};
  };
  Heads expanded = gathered(k, c.batch, c.tokens(), c.heads, key_of);
  rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, q, &k);
  rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, q, &expanded);
  SameRotation same(trial);
  each_head(expanded, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    same.judge(c.positions[static_cast<std::size_t>(s)], expanded.in_head(b, s, h),
               expanded.out_head(b, s, h), k.out_head(b, s, key_of(b, s, h).h));
  });
  return same.outcome();
}

}  // namespace

Law rope_gqa_order() {
  Law law;
  law.id = "rope_gqa_order";
  law.title = "grouped queries: rotate then expand the keys = expand then rotate";
  law.blind_to = "whatever all key heads share";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.negative_positions = true;
    space.grouped = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
