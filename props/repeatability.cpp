// repeatability: the identical call gives the same bits again: at once, at another address, and after a call
// with other inputs, positions, lengths and frequencies. It binds every kernel, whether it claims bits or
// not; the other address has the same place within 64 bytes, except where bits are claimed: then it is off by
// the declared alignment too. Teeth: sums in the order of a clock, memory read before it is written, a cache
// that answers for another call, an aligned loop that rounds differently. Blind to other thread counts and to
// other processes.
#include <algorithm>

#include "sextant/props/conduct.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// The same scheme with other numbers, where shapes allow it.
Encoding other_than(Encoding encoding) {
  if (auto* rope = std::get_if<Rope>(&encoding)) rope->theta = rope->theta == 10000 ? 20000 : 10000;
  if (auto* sinusoidal = std::get_if<Sinusoidal>(&encoding)) sinusoidal->base *= 2;
  if (auto* t5 = std::get_if<T5>(&encoding)) t5->max_distance *= 2;
  if (auto* deberta = std::get_if<Deberta>(&encoding)) deberta->max_position *= 2;
  if (auto* alibi = std::get_if<Alibi>(&encoding)) alibi->bias_max *= 2;
  if (auto* shaw = std::get_if<Shaw>(&encoding)) ++shaw->left;
  return encoding;
}

/// The same task of another case: other values, one more token, farther positions, another base.
Task other_than(const Trial& trial) {
  Case c = trial.c;
  ++c.seed;
  c.seq_len += 4096;
  for (std::int64_t& position : c.positions) position = position == 0 && c.keys.empty() ? 1 : position / 2;
  if (c.keys.empty()) c.positions.push_back(c.positions.front());
  c.encoding = other_than(*c.encoding);
  return task_of({c, trial.operation, trial.kernel, trial.contract, trial.truths});
}

Outcome check(const Trial& trial) {
  const Task task = task_of(trial);
  Placement at = usual_placement(trial.kernel, trial.c);
  const std::vector<Output> first = outputs_of(trial.kernel, task, at);
  Measure measure;
  const auto again = [&] { same_bits(task, outputs_of(trial.kernel, task, at), first, measure); };
  again();
  const Task other = other_than(trial);
  if (!why_not(trial.kernel, trial.operation, other.c)) {
    try {
      (void)outputs_of(trial.kernel, other, at);
    } catch (const Refused&) {
      // It may decline the other call.
    }
    again();
  }
  const std::int64_t unit = std::max<std::int64_t>(
      1, trial.kernel.capabilities.alignment / static_cast<std::int64_t>(sizeof(float)));
  at.shift = std::max<std::int64_t>(16, unit);
  again();
  if (trial.contract.bits_exact) {
    at.shift = unit;
    again();
  }
  return judged(std::move(measure));
}

}  // namespace

Law repeatability() {
  Law law;
  law.id = "repeatability";
  law.title =
      "the identical call gives the same bits again: at once, at another address, between other calls";
  law.blind_to = "other thread counts; other processes";
  law.operations = {Operation::frequencies,
                    Operation::tables,
                    Operation::rotate,
                    Operation::rotate_with_tables,
                    Operation::rotate_backward,
                    Operation::sequence,
                    Operation::attention,
                    Operation::encode,
                    Operation::bias,
                    Operation::buckets,
                    Operation::relative};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
