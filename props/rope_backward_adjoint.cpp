// rope_backward_adjoint: the gradient is the adjoint of the rotation, <K(m)x, g> = <x, backward(g)>, pair by
// pair. Teeth: a gradient rotated the same way as the input, by another base, scale or factor, in another
// pairing. Blind to a wrong rotation of the right pairs whose adjoint is taken.
//
// Slack. Both sides turn by the same angle t, whatever its error (a gradient that finds its angles in another
// way than the rotation is not its adjoint): K(m)x = A R(t)x + e_x, backward(g) =
// A R(-t)g + e_g, and <A R(t)x, g> = <x, A R(-t)g>. What is left is |<e_x, g> - <x, e_g>| <= E_x |g| + |x|
// E_g, E the rotation_error of each. Inner products are formed in double-double.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  if (!trial.kernel.offers(Operation::rotate)) return unsupported("offers no rotate beside it");
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  Case of_gradient = c;
  of_gradient.seed = scatter(c.seed);
  of_gradient.hot = static_cast<std::int64_t>(of_gradient.seed % static_cast<std::uint64_t>(c.head_dim));
  Heads q = make_heads(c, 0), k = make_heads(c, 1);
  Heads q_gradient = make_heads(of_gradient, 0), k_gradient = make_heads(of_gradient, 1);
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  rotate_back(trial.kernel, c, q_gradient, k_gradient);

  Measure measure;
  measure.unit = "pair_ulp";
  for (const auto& [x, g] : {std::pair{&q, &q_gradient}, std::pair{&k, &k_gradient}}) {
    each_head(*x, [&, x = x, g = g](std::int64_t b, std::int64_t s, std::int64_t h) {
      const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
      const ExactRow& row = rows.at(position);
      for (std::int64_t i = 0; i < rope.pairs(); ++i) {
        const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
        const PairTruth forward = pair_truth(rope, row, bounds, position, i, x->in_head(b, s, h));
        const PairTruth backward = backward_truth(rope, row, bounds, position, i, g->in_head(b, s, h));
        const double x_norm = std::hypot(forward.x_a, forward.x_b);
        const double g_norm = std::hypot(backward.x_a, backward.x_b);
        const double scale = forward.norm * g_norm;
        const double slack =
            scale == 0 ? 0
                       : rotation_error(bounds, forward) * g_norm + x_norm * rotation_error(bounds, backward);
        if (!(slack <= kNoClaim * scale)) {
          measure.skip();
          continue;
        }
        const float* y = x->out_head(b, s, h);
        const float* z = g->out_head(b, s, h);
        const Wide one = two_product(y[at.out_a], backward.x_a) + two_product(y[at.out_b], backward.x_b);
        const Wide other = two_product(forward.x_a, z[at.in_a]) + two_product(forward.x_b, z[at.in_b]);
        const double unit = std::max(bounds.output().unit_roundoff() * scale, 0x1p-1000);
        const double error = std::fabs((one - other).value());
        measure.take(std::isfinite(error) ? error / unit : INFINITY, slack * (1 + 0x1p-40) / unit,
                     {position, i, "inner product", one.value(), other.value()});
      }
    });
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_backward_adjoint() {
  Law law;
  law.id = "rope_backward_adjoint";
  law.title = "the gradient is the adjoint of the rotation: <K(m)x, g> = <x, backward(g)>";
  law.blind_to = "a wrong rotation of the right pairs that rotate and rotate_backward share";
  law.operations = {Operation::rotate_backward};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.negative_positions = true;
    space.bounded_inputs = true;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
