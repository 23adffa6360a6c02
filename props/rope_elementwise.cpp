// rope_elementwise: every output element against the exact value, within the contract's bound.
// Teeth: the only law that sees pairing, direction, base, exponent, scale and width faults. Blind to what
// happens between calls, to v, and to dtypes and layouts that a case does not use.
#include <cmath>
#include <cstring>

#include "sextant/props/call.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// One head at one token: rotated pairs against the truth, the tail bit for bit.
void judge_head(const Rope& rope, const ExactRow& row, const Bounds& bounds, std::int64_t position,
                const float* x, const float* y, Measure& measure) {
  for (std::int64_t i = 0; i < rope.pairs(); ++i) {
    const PairTruth truth = pair_truth(rope, row, bounds, position, i, x);
    const PairChannels channels = pair_channels(rope.pairing, rope.dim, i);
    const double unit = std::max(kFloat32.unit_roundoff() * truth.norm, kFloat32.least_subnormal() / 2);
    const auto judge = [&](double got, const Wide& want, const Wide& partner, double arithmetic,
                           const char* function) {
      const ElementBound bound =
          bounds.rotated(truth.at, arithmetic, want.value(), partner.value(), truth.norm);
      if (!bound.claim || truth.norm > kFloat32.largest / 2) return measure.skip();
      measure.take(pair_ulp(got, want, truth.norm, kFloat32), truth.norm == 0 ? 0 : bound.absolute / unit,
                   {position, i, function, got, want.value()});
    };
    judge(y[channels.out_a], truth.y_a, truth.y_b, truth.arithmetic_a, "a");
    judge(y[channels.out_b], truth.y_b, truth.y_a, truth.arithmetic_b, "b");
  }
  for (std::int64_t channel = rope.dim; channel < rope.head_dim; ++channel) {
    const bool same = std::memcmp(x + channel, y + channel, sizeof(float)) == 0;
    measure.take(same ? 0 : INFINITY, 0, {position, channel, "tail", y[channel], x[channel]});
  }
}

Outcome check_rotate(const Trial& trial) {
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  ExactRows& rows = trial.truths.rows(rope, trial.c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, trial.c.seq_len);
  Heads q = make_heads(trial.c, 0);
  Heads k = make_heads(trial.c, 1);
  rotate_heads(trial.kernel, trial.c, *trial.c.encoding, 0, q, k);
  Measure measure;
  measure.unit = "pair_ulp";
  for (const Heads* tensor : {&q, &k}) {
    for (std::int64_t b = 0; b < tensor->batch; ++b) {
      for (std::int64_t s = 0; s < tensor->tokens; ++s) {
        const std::int64_t position = trial.c.positions[static_cast<std::size_t>(s)];
        for (std::int64_t h = 0; h < tensor->heads; ++h) {
          judge_head(rope, rows.at(position), bounds, position, tensor->in_head(b, s, h),
                     tensor->out_head(b, s, h), measure);
        }
      }
    }
  }
  return judged(std::move(measure));
}

Outcome check_tables(const Trial& trial) {
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  ExactRows& rows = trial.truths.rows(rope, trial.c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, trial.c.seq_len);
  const KernelTables tables =
      kernel_tables(trial.kernel, *trial.c.encoding, trial.c.seq_len, trial.c.positions);
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
  law.title = "every element of rotate and tables is within the contract's bound of the exact value";
  law.blind_to = "state between calls, v, layouts and dtypes that the case does not use";
  law.operations = {Operation::rotate, Operation::tables};
  law.space = [](const std::optional<Rope>& rope, std::int64_t context,
                 std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space;
    space.encoding = *rope;
    space.context = context;
    space.negative_positions = true;
    return space;
  };
  law.check = [](const Trial& trial) {
    return trial.operation == Operation::tables ? check_tables(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
