// rope_table_forms: half, duplicated, repeated, half_half and polar tables hold the same numbers, every copy
// of them, and rotate_with_tables by each gives the rotation that the numbers say. Teeth: a form laid out as
// another, a copy left out, sin taken for cos, rows taken by token instead of by position. Blind to numbers
// that are wrong in every form alike, which rope_elementwise sees. A kernel with one form and no second copy
// has nothing to compare.
//
// Slack. Tables: equal bits where the contract claims them, else twice the bound of an entry. The rotation by
// given tables (correctly rounded ones here) has only the arithmetic's error; where bits are claimed, the
// forms also agree bit for bit.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Outcome check_tables(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  const std::vector<TableForm>& forms = trial.kernel.capabilities.forms;
  if (forms.size() == 1 && table_slots(forms.front(), rope.pairs(), 0).copies == 1)
    return unsupported(fmt::format("offers only {} tables", to_string(forms.front())));
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const KernelTables first = kernel_tables(trial.kernel, *c.encoding, c.seq_len, c.positions, c.dtype);
  Measure measure;
  measure.unit = trial.contract.bits_exact ? "count" : "abs";
  for (const TableForm form : forms) {
    const KernelTables other =
        kernel_tables(trial.kernel, *c.encoding, c.seq_len, c.positions, form, c.dtype);
    for (std::int64_t s = 0; s < c.tokens(); ++s) {
      const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
      for (std::int64_t i = 0; i < rope.pairs(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double cos = rows.at(position).cos[k].value();
        const double sin = rows.at(position).sin[k].value();
        const PairBound at = bounds.pair(i, position, cos, sin);
        const TableSlots want = table_slots(first.form, rope.pairs(), i);
        const TableSlots slots = table_slots(form, rope.pairs(), i);
        const auto judge = [&](float got_value, float want_value, const ElementBound& bound) {
          const Witness witness{position, i, std::string(to_string(form)), got_value, want_value};
          if (trial.contract.bits_exact)
            return measure.take(same_bits(got_value, want_value) ? 0 : INFINITY, 0, witness);
          if (!bound.claim) return measure.skip();
          const double error = std::fabs(double{got_value} - double{want_value});
          measure.take(std::isfinite(error) ? error : INFINITY, 2 * bound.absolute, witness);
        };
        for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
          const std::int64_t got_row = s * other.width + copy * slots.copy_step;
          const std::int64_t want_row = s * first.width;
          judge(other.cos[static_cast<std::size_t>(got_row + slots.cos)],
                first.cos[static_cast<std::size_t>(want_row + want.cos)],
                bounds.table_entry(at, at.cos, cos, sin));
          judge(other.sin_table()[static_cast<std::size_t>(got_row + slots.sin)],
                first.sin_table()[static_cast<std::size_t>(want_row + want.sin)],
                bounds.table_entry(at, at.sin, sin, cos));
        }
      }
    }
  }
  return judged(std::move(measure));
}

Outcome check_rotate(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& exact = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  // Rows in reverse order and named by index, or one for each token.
  const bool by_index = c.seed % 2 == 1;
  std::vector<std::int64_t> positions = c.positions;
  std::vector<std::int64_t> rows;
  if (by_index) {
    std::reverse(positions.begin(), positions.end());
    for (std::int64_t s = c.tokens(); s-- > 0;) rows.push_back(s);
  }
  Measure measure;
  measure.unit = "pair_ulp";
  const Heads q = make_heads(c, 0);
  const Heads k = make_heads(c, 1);
  std::optional<Heads> q_first, k_first;
  for (const TableForm form : trial.kernel.capabilities.forms) {
    const KernelTables tables = rounded_tables(rope, exact, positions, form, c.table);
    Heads q_out = q, k_out = k;
    rotate_by_tables(trial.kernel, *c.encoding, c.seq_len, tables, rows, q_out, k_out);
    const auto judge = [&](const Heads& got, const std::optional<Heads>& first) {
      each_head(got, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
        const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
        const float* x = got.in_head(b, s, h);
        const float* y = got.out_head(b, s, h);
        const std::int64_t row = by_index ? c.tokens() - 1 - s : s;
        judge_given(rope, tables, row, bounds, position, x, y, measure);
        if (!trial.contract.bits_exact || !first) return;
        const float* other = first->out_head(b, s, h);
        for (std::int64_t channel = 0; channel < rope.dim; ++channel) {
          measure.take(same_bits(y[channel], other[channel]) ? 0 : INFINITY, 0,
                       {position, channel, std::string(to_string(form)), y[channel], other[channel]});
        }
      });
    };
    judge(q_out, q_first);
    judge(k_out, k_first);
    if (!q_first) {
      q_first = std::move(q_out);
      k_first = std::move(k_out);
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_table_forms() {
  Law law;
  law.id = "rope_table_forms";
  law.title = "half, duplicated, repeated, half_half and polar tables hold the same rotation";
  law.blind_to = "numbers that are wrong in every form alike";
  law.operations = {Operation::tables, Operation::rotate_with_tables};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    return space;
  });
  law.check = [](const Trial& trial) {
    return trial.operation == Operation::tables ? check_tables(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
