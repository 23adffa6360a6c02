// rope_elementwise: every output element against the exact value, within the contract's bound.
// Teeth: pairing, direction, base, exponent, scale and width faults, most of which no other law sees. Blind
// to what happens between calls, to v, and to dtypes and layouts that a case does not use.
#include <cmath>
#include <numeric>

#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

/// The case's tensors after a kernel, head by head: judge(position, token, x, y).
template <class Judge>
void each_output(const Trial& trial, const Heads& q, const Heads& k, Judge judge) {
  for (const Heads* tensor : {&q, &k}) {
    each_head(*tensor, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      judge(trial.c.positions[static_cast<std::size_t>(s)], s, tensor->in_head(b, s, h),
            tensor->out_head(b, s, h));
    });
  }
}

/// rotate, and rotate_backward: the rotation by the negative angle, from rotate's output channels to its
/// input channels.
Outcome check_rotate(const Trial& trial) {
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  ExactRows& rows = trial.truths.rows(rope, trial.c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, trial.c.seq_len);
  const bool backward = trial.operation == Operation::rotate_backward;
  Heads q = make_heads(trial.c, 0);
  Heads k = make_heads(trial.c, 1);
  if (backward) {
    rotate_back(trial.kernel, trial.c, q, k);
  } else {
    rotate_heads(trial.kernel, trial.c, *trial.c.encoding, 0, q, k);
  }
  Measure measure;
  measure.unit = "pair_ulp";
  each_output(trial, q, k, [&](std::int64_t position, std::int64_t, const float* x, const float* y) {
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
      const ExactRow& row = rows.at(position);
      const PairTruth truth = backward ? backward_truth(rope, row, bounds, position, i, x)
                                       : pair_truth(rope, row, bounds, position, i, x);
      judge_pair(truth, bounds, position, i, y[backward ? at.in_a : at.out_a],
                 y[backward ? at.in_b : at.out_b], measure);
    }
    judge_tail(rope, position, x, y, measure);
  });
  return judged(std::move(measure));
}

/// By correctly rounded tables, row s for token s.
Outcome check_with_tables(const Trial& trial) {
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, trial.c.seq_len);
  const KernelTables tables =
      rounded_tables(rope, trial.truths.rows(rope, trial.c.seq_len), trial.c.positions,
                     trial.kernel.capabilities.forms.front(), trial.c.table);
  Heads q = make_heads(trial.c, 0);
  Heads k = make_heads(trial.c, 1);
  std::vector<std::int64_t> rows(trial.c.positions.size());
  std::iota(rows.begin(), rows.end(), 0);
  rotate_by_tables(trial.kernel, *trial.c.encoding, trial.c.seq_len, tables, rows, q, k);
  Measure measure;
  measure.unit = "pair_ulp";
  each_output(trial, q, k, [&](std::int64_t position, std::int64_t s, const float* x, const float* y) {
    judge_given(rope, tables, s, bounds, position, x, y, measure);
  });
  return judged(std::move(measure));
}

Outcome check_tables(const Trial& trial) {
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  ExactRows& rows = trial.truths.rows(rope, trial.c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, trial.c.seq_len);
  const KernelTables tables =
      kernel_tables(trial.kernel, *trial.c.encoding, trial.c.seq_len, trial.c.positions, trial.c.dtype);
  Measure measure;
  measure.unit = "abs";
  for (std::int64_t s = 0; s < trial.c.tokens(); ++s) {
    const std::int64_t position = trial.c.positions[static_cast<std::size_t>(s)];
    const ExactRow& row = rows.at(position);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const Wide& c = row.cos[static_cast<std::size_t>(i)];
      const Wide& n = row.sin[static_cast<std::size_t>(i)];
      const PairBound at = bounds.pair(i, position, c.value(), n.value());
      const TableSlots slots = table_slots(tables.form, rope.pairs(), i);
      const auto judge = [&](float got, const Wide& want, double entry, const Wide& partner,
                             const char* function) {
        const ElementBound bound = bounds.table_entry(at, entry, want.value(), partner.value());
        if (!bound.claim) return measure.skip();
        const double error = std::isfinite(got) ? std::fabs((Wide(got) - want).value()) : INFINITY;
        measure.take(error, bound.absolute, {position, i, function, got, want.value()});
      };
      for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
        const std::int64_t shift = s * tables.width + copy * slots.copy_step;
        judge(tables.cos[static_cast<std::size_t>(shift + slots.cos)], c, at.cos, n, "cos");
        judge(tables.sin_table()[static_cast<std::size_t>(shift + slots.sin)], n, at.sin, c, "sin");
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_elementwise() {
  Law law;
  law.id = "rope_elementwise";
  law.title =
      "every element of rotate, its gradient and tables is within the contract's bound of the exact value";
  law.blind_to = "state between calls, v, layouts and dtypes that the case does not use";
  law.operations = {Operation::rotate, Operation::tables, Operation::rotate_with_tables,
                    Operation::rotate_backward};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(rope, context);
        space.negative_positions = true;
        space.large = draw % 8 == 0;
        return space;
      });
  law.check = [](const Trial& trial) {
    if (trial.operation == Operation::tables) return check_tables(trial);
    return trial.operation == Operation::rotate_with_tables ? check_with_tables(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
