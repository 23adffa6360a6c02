// rope_isometry: a pair's norm is multiplied by the attention factor A, |K(m)x| = A|x|, and in tables
// |(C, S)| = A. Teeth: tables or products in 16 bits, cos and sin from different angles, one of them without
// the factor, interpolated tables. Blind to everything that is a rotation by some angle: base, scale,
// position, direction, pairing within the right channels.
//
// Slack. The angle error is common to cos and sin and cancels. With C~ = A cos t + e_c, S~ = A sin t + e_s
// for the kernel's own angle t: | |(C~, S~)| - A | <= |(e_c, e_s)| <= entries_error. A rotated
// pair is A R(t) x plus an error no longer than rotation_error: | |y~| - A|x| | <= that. Both differences are
// formed as (|y~|^2 - A^2 |x|^2) / (|y~| + A|x|), the squares in double-double.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Wide square(const Pair<Wide>& x) { return x.a * x.a + x.b * x.b; }

/// | |x| - norm |, given norm^2 exactly.
double norm_error(const Pair<Wide>& x, const Wide& norm_squared, double norm) {
  const Wide squared = square(x);
  if (!std::isfinite(squared.value())) return INFINITY;
  const double sum = std::sqrt(squared.value()) + norm;
  return sum == 0 ? 0 : std::fabs((squared - norm_squared).value()) / sum;
}

Outcome check_rotate(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const Wide factor = rows.frequencies().attention_factor;
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  Measure measure;
  measure.unit = "pair_ulp";
  for (const Heads* tensor : {&q, &k}) {
    each_head(*tensor, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
      for (std::int64_t i = 0; i < rope.pairs(); ++i) {
        const PairTruth truth =
            pair_truth(rope, rows.at(position), bounds, position, i, tensor->in_head(b, s, h));
        const double slack = truth.norm == 0 ? 0 : rotation_error(bounds, truth);
        if (slack > kNoClaim * truth.norm || truth.norm > bounds.largest_norm()) {
          measure.skip();
          continue;
        }
        const Pair<Wide> y = output_pair(rope, i, tensor->out_head(b, s, h));
        const double unit = pair_unit(truth.norm, bounds.output());
        measure.take(norm_error(y, square(factor * Pair<Wide>{truth.x_a, truth.x_b}), truth.norm) / unit,
                     slack / unit, {position, i, "norm", std::hypot(y.a.value(), y.b.value()), truth.norm});
      }
    });
  }
  return judged(std::move(measure));
}

Outcome check_tables(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const Wide factor = rows.frequencies().attention_factor;
  const KernelTables tables = kernel_tables(trial.kernel, *c.encoding, c.seq_len, c.positions, c.dtype);
  Measure measure;
  measure.unit = "abs";
  for (std::int64_t s = 0; s < c.tokens(); ++s) {
    const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
    const ExactRow& row = rows.at(position);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const PairBound at = bounds.pair(i, position, row.cos[k].value(), row.sin[k].value());
      const Pair<Wide> entry = table_pair(tables, rope, s, i);
      if (bounds.entries_error(at) >= kNoClaim * factor.value()) {
        measure.skip();
        continue;
      }
      measure.take(norm_error(entry, factor * factor, factor.value()), bounds.entries_error(at),
                   {position, i, "norm", std::hypot(entry.a.value(), entry.b.value()), factor.value()});
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_isometry() {
  Law law;
  law.id = "rope_isometry";
  law.title = "a rotation multiplies a pair's norm by the attention factor: |K(m)x| = A|x|, c^2 + s^2 = A^2";
  law.blind_to = "whatever still is a rotation: a wrong base, scale, position or direction";
  law.operations = {Operation::rotate, Operation::tables};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.negative_positions = true;
    return space;
  });
  law.check = [](const Trial& trial) {
    return trial.operation == Operation::tables ? check_tables(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
