// memory_bounds: a call writes every element of its outputs and nothing else, and no result depends on what
// lies around its tensors or on what its outputs held before. Two calls, with canaries of two values around
// every tensor and in every output. Teeth: a store past either end, an output element never written or added
// to, a read past the end whose value reaches a result. Blind to writes further than 256 bytes and one row
// away, and to reads whose value does not matter: those meet a guard page where the kernel runs in a worker
// (fixtures/worker), as those of others do.
#include "sextant/props/conduct.hpp"

namespace sextant {
namespace {

constexpr std::uint16_t kOtherFilling = 0x3f99;  // a number, where the usual filling is a NaN

Outcome check(const Trial& trial) {
  const Task task = task_of(trial);
  Placement at = usual_placement(trial.kernel, trial.c);
  Conduct first = perform(trial.kernel, task, at);
  at.filling = kOtherFilling;
  const Conduct second = perform(trial.kernel, task, at);
  Measure measure = std::move(first.outside);
  measure += second.outside;
  same_bits(task, second.outputs, first.outputs, measure);
  return judged(std::move(measure));
}

}  // namespace

Law memory_bounds() {
  Law law;
  law.id = "memory_bounds";
  law.title = "a call writes all of its outputs and nothing else, whatever lies around them";
  law.blind_to = "outside a worker (--isolate): writes far away, reads that no result depends on";
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
