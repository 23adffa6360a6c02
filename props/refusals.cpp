// refusals: given tables that cannot serve the call, a kernel declines with a message (Refused, or
// InputError) and gives no answer: a position just past the rows or before them, tables of one pair more or
// fewer than the encoding has. Teeth: a row clamped or wrapped, a width never looked at. What is read in
// error lies within margins that belong to the test. Blind to positions further out, where a kernel that does
// not check would take the process down.
#include <algorithm>

#include "sextant/props/conduct.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// What a kernel says when it declines, or nothing where it answers.
std::optional<std::string> refusal_of(const Trial& trial, const Task& task) {
  try {
    (void)perform(trial.kernel, task, usual_placement(trial.kernel, task.c));
    return std::nullopt;
  } catch (const Refused& refused) {
    return refused.what();
  } catch (const OutOfResources&) {
    throw;
  } catch (const InputError& refused) {
    return refused.what();
  }
}

Outcome check(const Trial& trial) {
  const Task right = task_of(trial);
  (void)outputs_of(trial.kernel, right, usual_placement(trial.kernel, right.c));  // this much is answered
  Measure measure;
  measure.unit = "count";
  const auto expect_refused = [&](const Task& task, const char* function, double got, double want) {
    const std::optional<std::string> refusal = refusal_of(trial, task);
    measure.take(refusal && !refusal->empty() ? 0 : 1, 0, {task.c.positions.front(), 0, function, got, want});
  };
  const auto token = static_cast<std::size_t>(scatter(trial.c.seed) % right.c.positions.size());
  for (const std::int64_t row : {right.rows, std::int64_t{-1}}) {
    Task task = right;
    task.c.positions[token] = row;
    expect_refused(task, "row", static_cast<double>(row), static_cast<double>(right.rows - 1));
  }
  for (const std::int64_t pairs : {right.pairs + 1, right.pairs - 1}) {
    if (pairs == 0) continue;
    Task task = right;
    give_tables(task, right.rows, pairs);
    expect_refused(task, "width", static_cast<double>(pairs), static_cast<double>(right.pairs));
  }
  return judged(std::move(measure));
}

}  // namespace

Law refusals() {
  Law law;
  law.id = "refusals";
  law.title = "positions outside the rows of given tables, and tables of another width, are refused";
  law.blind_to = "positions further outside; refusals of other operations";
  law.operations = {Operation::rotate_with_tables};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
