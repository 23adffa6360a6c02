// in_place: a call whose outputs are its inputs gives what it gives apart from them: the same bits where bits
// are claimed, else within the bounds of both sides. Teeth: the second component computed from the first
// one's result, a tail that is only written when apart. Blind to faults that both ways share, and to kernels
// that only work in place: every other law calls those in place.
#include "sextant/props/conduct.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  switch (trial.kernel.capabilities.in_place) {
    case Capabilities::InPlace::no:
      return unsupported("does not work in place");
    case Capabilities::InPlace::only:
      return unsupported("works in place alone, so that there is nothing to compare");
    case Capabilities::InPlace::also:
      break;
  }
  const Task task = task_of(trial);
  Placement at = usual_placement(trial.kernel, trial.c);
  const std::vector<Output> apart = outputs_of(trial.kernel, task, at);
  at.in_place = true;
  Measure measure;
  agree(trial, task, outputs_of(trial.kernel, task, at), apart, measure);
  return judged(std::move(measure));
}

}  // namespace

Law in_place() {
  Law law;
  law.id = "in_place";
  law.title = "in place, a call gives what it gives apart from its inputs";
  law.blind_to = "faults that both ways share; kernels that only work in place";
  law.operations = {Operation::rotate, Operation::rotate_with_tables, Operation::rotate_backward};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
