// rope_head_independence: all heads are rotated alike, each by itself: a head rotated alone gives what it
// gives among the others, q and k alike. Teeth: frequencies, positions or a factor that depend on the head, k
// taken with the head count of q, neighbours that leak into a vector's tail. Blind to whatever all heads
// share. Equal bits where the contract claims them, else within the sum of both bounds.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  SameRotation same(trial);
  for (const Heads* tensor : {&q, &k}) {
    for (std::int64_t head = 0; head < tensor->heads; ++head) {
      Heads alone = gathered(*tensor, tensor->batch, tensor->tokens, 1,
                             [&](std::int64_t b, std::int64_t s, std::int64_t) {
                               return HeadIndex{b, s, head};
                             });
      rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, alone);
      each_head(alone, [&](std::int64_t b, std::int64_t s, std::int64_t) {
        same.judge(c.positions[static_cast<std::size_t>(s)], alone.in_head(b, s, 0), alone.out_head(b, s, 0),
                   tensor->out_head(b, s, head));
      });
    }
  }
  return same.outcome();
}

}  // namespace

Law rope_head_independence() {
  Law law;
  law.id = "rope_head_independence";
  law.title = "heads are rotated alike: a head alone gives what it gives among the others";
  law.blind_to = "whatever all heads share";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.max_tokens = 6;
    space.negative_positions = true;
    space.grouped = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
