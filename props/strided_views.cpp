// strided_views: in every layout that a kernel claims, dense and with gaps after each head, token and batch,
// the rows of q and k come out as in the first layout, and the gaps stay as they were. Teeth: strides ignored
// or exchanged, positions taken by the wrong axis, a store into a gap. A kernel may refuse gaps, but no
// layout that it claims. Blind to strided positions and tables, and to negative strides. Gaps are whole units
// of the declared alignment, so that rows which were aligned remain so.
#include <algorithm>

#include "sextant/props/conduct.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Task task = task_of(trial);
  const Capabilities& can = trial.kernel.capabilities;
  const Placement usual = usual_placement(trial.kernel, trial.c);
  Placement at = usual;
  const std::vector<Output> plain = outputs_of(trial.kernel, task, at);
  Measure measure;
  bool any = false;  // compared in another place than the usual one
  std::string refused;
  for (const Layout layout : can.layouts) {
    for (const std::int64_t units : {0, 1, 3}) {
      at.layout = layout;
      at.gap = units *
               std::max<std::int64_t>(1, can.alignment / static_cast<std::int64_t>(size_of(trial.c.dtype)));
      try {
        agree(trial, task, outputs_of(trial.kernel, task, at), plain, measure);
        any = any || units > 0 || layout != usual.layout;
      } catch (const Refused& refusal) {
        if (units == 0) return unsupported(refusal.what());
        refused = refusal.what();
      }
    }
  }
  if (!any && !refused.empty() && !measure.witness) return unsupported(refused);
  return judged(std::move(measure));
}

}  // namespace

Law strided_views() {
  Law law;
  law.id = "strided_views";
  law.title = "every layout claimed, dense or with gaps, gives the same rows and leaves the gaps alone";
  law.blind_to = "strides of positions and tables; negative strides";
  law.operations = {Operation::rotate, Operation::rotate_with_tables, Operation::rotate_backward};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
