// nope_layers: where a layer has no position encoding, q and k (and v, where it is taken) pass bit for bit at
// every position, forward and backward, for every kernel: NaN payloads, -0, infinities and subnormals
// included. Teeth: a rotation by position, an addition of 0, q given back as k, an output left unwritten.
// Blind to which layers a model rotates: that is the config's.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const bool backward = trial.operation == Operation::rotate_backward;
  std::vector<Heads> tensors;
  for (const int stream : {0, 1, 2}) tensors.push_back(make_heads(c, stream));
  if (backward || !trial.kernel.capabilities.values) tensors.pop_back();
  for (Heads& x : tensors) {
    for (std::size_t i = c.seed % 4; i < x.in.size(); i += 4)
      x.in[i] = special_value(c, static_cast<std::int64_t>(i));
  }
  if (backward)
    rotate_back(trial.kernel, c, tensors[0], tensors[1]);
  else
    rotate_at(trial.kernel, *c.encoding, c.seq_len, c.positions, tensors[0], &tensors[1],
              tensors.size() > 2 ? &tensors[2] : nullptr);
  Measure measure;
  measure.unit = "count";
  constexpr const char* kNames[] = {"q", "k", "v"};
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const Heads& x = tensors[t];
    each_head(x, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      for (std::int64_t i = 0; i < x.channels; ++i) {
        const float in = x.in_head(b, s, h)[i], out = x.out_head(b, s, h)[i];
        measure.take(same_bits(in, out) ? 0 : 1, 0,
                     {c.positions[static_cast<std::size_t>(s)], i, kNames[t], out, in});
      }
    });
  }
  return judged(std::move(measure));
}

}  // namespace

Law nope_layers() {
  Law law;
  law.id = "nope_layers";
  law.title = "without position encoding q and k pass bit for bit, at every position";
  law.blind_to = "which layers a model rotates: that is the config's";
  law.operations = {Operation::rotate, Operation::rotate_backward};
  law.space =
      on<Nope>([](const Nope& nope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(nope, context);
        space.negative_positions = true;
        constexpr std::int64_t kWidths[] = {2, 16, 64, 80};  // even, as rotating kernels want them
        space.head_dim = kWidths[draw % std::size(kWidths)];
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
