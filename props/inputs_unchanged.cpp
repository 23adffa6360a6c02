// inputs_unchanged: after a call every input holds the bits it held before. Teeth: q scaled in place,
// positions clamped or shifted in place, a table overwritten. Blind to an input changed and changed back
// while the call runs, and to q and k of a kernel that only works in place.
#include "sextant/props/conduct.hpp"

namespace sextant {

Law inputs_unchanged() {
  Law law;
  law.id = "inputs_unchanged";
  law.title = "after a call, every input holds the bits it held before";
  law.blind_to = "an input changed and restored during the call; q and k of kernels that only work in place";
  law.operations = {Operation::tables,    Operation::rotate,  Operation::rotate_with_tables,
                    Operation::attention, Operation::encode,  Operation::bias,
                    Operation::buckets,   Operation::relative};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = [](const Trial& trial) {
    return judged(perform(trial.kernel, task_of(trial), usual_placement(trial.kernel, trial.c)).inputs);
  };
  return law;
}

}  // namespace sextant
