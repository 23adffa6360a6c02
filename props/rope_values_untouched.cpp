// rope_values_untouched: v, where it is given with q and k, comes back bit for bit, for every kernel: NaN
// payloads, -0, infinities and subnormals included. Teeth: v rotated like k, left unwritten, taken with the
// head count of q, scaled by the attention factor. Blind to q and k.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!trial.kernel.capabilities.values) return unsupported("takes no v");
  const Case& c = trial.c;
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  Heads v = make_heads(c, 2);
  // Every fourth value is one that only a copy keeps.
  for (std::size_t i = c.seed % 4; i < v.in.size(); i += 4)
    v.in[i] = special_value(c, static_cast<std::int64_t>(i));
  rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, q, &k, &v);
  Measure measure;
  measure.unit = "count";
  each_head(v, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    const float* x = v.in_head(b, s, h);
    const float* y = v.out_head(b, s, h);
    for (std::int64_t i = 0; i < v.channels; ++i)
      measure.take(same_bits(x[i], y[i]) ? 0 : 1, 0,
                   {c.positions[static_cast<std::size_t>(s)], i, "v", y[i], x[i]});
  });
  return judged(std::move(measure));
}

}  // namespace

Law rope_values_untouched() {
  Law law;
  law.id = "rope_values_untouched";
  law.title = "values are not rotated: v comes back bit for bit";
  law.blind_to = "q and k";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.negative_positions = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
