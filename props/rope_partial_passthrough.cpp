// rope_partial_passthrough: channels past the rotary width come back bit for bit, for every kernel: NaN
// payloads, -0, infinities and subnormals included. Teeth: a width taken from the head, a tail that is not
// written, written from the wrong head, multiplied by the attention factor or by cos 0 = 1, flushed. Blind to
// the rotated channels. A RoPE over the whole head is tried on heads of twice its width. Frequencies of zero
// lie inside the rotary width: they are rotated by 0, not copied.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  if (rope.dim == rope.head_dim) return unsupported("the rotary width is the whole head");
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  for (Heads* tensor : {&q, &k}) {
    for (std::size_t base = 0; base < tensor->in.size(); base += static_cast<std::size_t>(rope.head_dim)) {
      for (std::int64_t i = rope.dim; i < rope.head_dim; ++i) {
        const std::size_t at = base + static_cast<std::size_t>(i);
        tensor->in[at] = special_value(c, static_cast<std::int64_t>(at));
      }
    }
  }
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  Measure measure;
  measure.unit = "count";
  for (const Heads* tensor : {&q, &k}) {
    each_head(*tensor, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      const float* x = tensor->in_head(b, s, h);
      const float* y = tensor->out_head(b, s, h);
      for (std::int64_t i = rope.dim; i < rope.head_dim; ++i)
        measure.take(same_bits(x[i], y[i]) ? 0 : 1, 0,
                     {c.positions[static_cast<std::size_t>(s)], i, "tail", y[i], x[i]});
    });
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_partial_passthrough() {
  Law law;
  law.id = "rope_partial_passthrough";
  law.title = "channels past the rotary width are copied bit for bit, NaN payloads and -0 included";
  law.blind_to = "the rotated channels";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    Rope partial = rope;
    if (partial.dim == partial.head_dim) partial.head_dim = 2 * partial.dim;
    if (partial.head_dim > kMaxHeadDim) return std::nullopt;
    CaseSpace space = space_of(partial, context);
    space.negative_positions = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
