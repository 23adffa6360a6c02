// Console text of runs and replays.
#include "sextant/reports/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sextant/reports/gate.hpp"
#include "sextant/reports/groups.hpp"
#include "sextant/reports/output.hpp"

namespace sextant {
namespace {

/// All records of one kernel, law and operation.
struct Group {
  std::string kernel, law;
  Operation operation = Operation::rotate;
  std::string contract;
  Verdict verdict = Verdict::unsupported;
  const VerdictRecord* worst = nullptr;
  std::size_t passed = 0, judged = 0;
  std::int64_t cases = 0;
  std::string reason;
};

/// What kept checks of a kernel from passing or failing, most of them first.
std::string not_offered(const std::vector<const Group*>& groups) {
  std::map<std::string, std::size_t> counts;
  for (const Group* group : groups) {
    if (group->passed < group->judged && !group->reason.empty())
      counts[group->reason] += group->judged - group->passed;
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [reason, count] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
  return text;
}

std::string in_dtype(const VerdictRecord& record) {
  return record.dtype == DType::f32 ? "" : fmt::format(" in {}", to_string(record.dtype));
}

std::vector<Group> groups_of(const Run& run) {
  std::vector<Group> groups;
  for (const VerdictRecord& record : run.result.verdicts) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.kernel == record.kernel && group.law == record.law && group.operation == record.operation;
    });
    if (at == groups.end()) {
      groups.push_back({record.kernel, record.law, record.operation, record.contract, record.verdict, nullptr,
                        0, 0, 0, record.reason});
      at = groups.end() - 1;
    }
    Group& group = *at;
    if (record.verdict < group.verdict) {
      group.verdict = record.verdict;
      group.reason = record.reason;
    }
    group.cases += record.cases;
    ++group.judged;
    group.passed += record.verdict == Verdict::pass;
    if (!record.measure.witness) continue;
    if (!group.worst || record.measure.share() > group.worst->measure.share()) group.worst = &record;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.kernel < b.kernel; });
  return groups;
}

class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}
  [[nodiscard]] std::string verdict(Verdict value, std::size_t width) const {
    const std::string text = fmt::format("{:<{}}", to_string(value), width);
    if (!colours_) return text;
    const char* code = value == Verdict::pass ? "32" : value < Verdict::pass ? "31;1" : "33";
    return fmt::format("\033[{}m{}\033[0m", code, text);
  }

 private:
  bool colours_;
};

/// Error over bound: 0.79, or 1.5e+07 where it is far above.
std::string share_of(const VerdictRecord& record) {
  const double share = record.measure.share();
  return share < 100 ? fmt::format("{:.2f}", share) : fmt::format("{:.2g}", share);
}

/// Which of the usual tolerances would have let this error pass.
std::string usual_tolerances(const Witness& witness) {
  const double error = std::fabs(witness.got - witness.want);
  if (!std::isfinite(error)) return "no usual tolerance";
  std::string passed;
  const auto add = [&](const char* name) { passed += fmt::format("{}{}", passed.empty() ? "" : ", ", name); };
  if (error <= 1e-2) add("1e-2");
  if (error <= 1e-3) add("1e-3");
  if (error * error <= 1e-7 * witness.want * witness.want) add("NMSE 1e-7");
  return passed.empty() ? "none of the tolerances 1e-2, 1e-3, NMSE 1e-7"
                        : fmt::format("the tolerance {}", passed);
}

/// Names and reasons as one line that moves no cursor, whatever a document holds.
std::string failure_text(const VerdictRecord& record, const Run& run, const Painter& painter) {
  std::string text = fmt::format("{} {}: {} on {}{}, {}", painter.verdict(record.verdict, 0),
                                 printable(record.kernel), printable(record.law), to_string(record.operation),
                                 in_dtype(record), printable(subject_of(record)));
  if (record.measure.witness && record.measure.share() > 1) {
    const Witness& w = *record.measure.witness;
    text += fmt::format(": worst {:.4g} {} at position {}, pair {}, bound {:.4g}", record.measure.worst,
                        printable(record.measure.unit), w.position, w.pair, record.measure.bound);
  }
  text += "\n";
  if (!record.reason.empty()) text += fmt::format("     {}\n", printable(record.reason));
  if (record.witness) {
    const Witness& w = *record.witness;
    text += fmt::format(
        "     shrunk to position {}, pair {}, {}: got {:.9g}, want {:.17g}; {} would have let its |error| "
        "{:.3g} pass\n",
        w.position, w.pair, printable(w.function), w.got, w.want, usual_tolerances(w),
        std::fabs(w.got - w.want));
  }
  if (!record.replay.empty()) text += fmt::format("     {}\n", printable(command_of(record, run)));
  return text;
}

constexpr std::size_t kMostGroups = 30;
constexpr std::size_t kMostFailures = 5;

void add_groups(const Run& run, const Painter& painter, std::string& text) {
  const std::vector<Group> groups = groups_of(run);
  std::size_t width = 6;
  for (const Group& group : groups) width = std::max(width, group.kernel.size());
  text += fmt::format("{:<{}}  {:<40} {:<12} {:>9}  {:>6}  {}\n", "kernel", width, "law on operation",
                      "verdict", "passed", "cases", "largest error / bound");
  std::map<std::string, std::size_t> shown;
  std::size_t left_out = 0;
  // With many kernels a kernel's passing lines fold into one, so that the text fits a screen.
  const bool fold = groups.size() > kMostGroups;
  std::map<std::string, std::vector<const Group*>> folded;
  for (const Group& group : groups) {
    if (fold && group.verdict >= Verdict::pass) {
      folded[group.kernel].push_back(&group);
      continue;
    }
    if (++shown[""] > kMostGroups) {
      ++left_out;
      continue;
    }
    const std::string near =
        group.worst ? fmt::format("{}: {}", share_of(*group.worst), subject_of(*group.worst)) : group.reason;
    text += fmt::format("{:<{}}  {:<40} {} {:>4}/{:<4}  {:>6}  {}\n", printable(group.kernel), width,
                        printable(fmt::format("{} on {}", group.law, to_string(group.operation))),
                        painter.verdict(group.verdict, 12), group.passed, group.judged, group.cases,
                        printable(near));
  }
  for (const auto& [kernel, list] : folded) {
    const Group* nearest = nullptr;
    Group sum;
    for (const Group* group : list) {
      sum.passed += group->passed;
      sum.judged += group->judged;
      sum.cases += group->cases;
      sum.verdict = std::min(sum.verdict, group->verdict);
      if (sum.reason.empty()) sum.reason = group->reason;
      if (group->worst && (!nearest || group->worst->measure.share() > nearest->worst->measure.share()))
        nearest = group;
    }
    const std::string near = nearest ? fmt::format("{}: {} on {}", share_of(*nearest->worst), nearest->law,
                                                   subject_of(*nearest->worst))
                                     : sum.reason;
    const std::string rest = nearest ? not_offered(list) : "";
    text += fmt::format("{:<{}}  {:<40} {} {:>4}/{:<4}  {:>6}  {}{}{}\n", printable(kernel), width,
                        fmt::format("{} checks (law on operation)", list.size()),
                        painter.verdict(sum.verdict, 12), sum.passed, sum.judged, sum.cases, printable(near),
                        rest.empty() ? "" : "; ", printable(rest));
  }
  if (left_out > 0) text += fmt::format("... and {} more lines: see --json\n", left_out);
}

/// The worst of each kernel, law and operation first, then the rest by how far they exceed their bounds.
void add_failures(const Run& run, const Painter& painter, std::string& text) {
  const std::vector<const VerdictRecord*> failures = failures_of(run);
  if (failures.empty()) return;
  text += "\n";
  for (std::size_t i = 0; i < std::min(kMostFailures, failures.size()); ++i)
    text += failure_text(*failures[i], run, painter);
  if (failures.size() > kMostFailures)
    text += fmt::format("... and {} more: see --json\n", failures.size() - kMostFailures);
}

void add_drift(const Run& run, std::string& text) {
  struct Summary {
    std::size_t models = 0, kept = 0;
    const DriftRecord* first = nullptr;
    const DriftRecord* last = nullptr;
    const DriftRecord* worst = nullptr;
    DriftRecord::Octave octave{};
  };
  std::map<std::string, Summary> kernels;
  for (const DriftRecord& drift : run.result.drift) {
    Summary& summary = kernels[drift.kernel];
    ++summary.models;
    if (!drift.leaves_exact_angle) {
      ++summary.kept;
    } else {
      if (!summary.first || *drift.leaves_exact_angle < *summary.first->leaves_exact_angle)
        summary.first = &drift;
      if (!summary.last || *drift.leaves_exact_angle > *summary.last->leaves_exact_angle)
        summary.last = &drift;
    }
    for (const DriftRecord::Octave& octave : drift.by_octave) {
      if (octave.max_abs > summary.octave.max_abs) {
        summary.octave = octave;
        summary.worst = &drift;
      }
    }
  }
  if (kernels.empty()) return;
  text +=
      "\ndrift of cos and sin over the declared context (contract exact-angle: every position as exact as "
      "position 1)\n";
  for (const auto& [kernel, summary] : kernels) {
    const auto name = [](const DriftRecord& drift) {
      return printable(drift.model.value_or(drift.encoding));
    };
    if (!summary.first) {
      text += fmt::format("  {}: keeps it at every position tried, {} encodings", printable(kernel),
                          summary.models);
    } else {
      std::string from =
          fmt::format("position {} ({})", *summary.first->leaves_exact_angle, name(*summary.first));
      if (summary.first != summary.last) {
        from += fmt::format(" .. {} ({})", *summary.last->leaves_exact_angle, name(*summary.last));
      }
      text += fmt::format("  {}: leaves it at {}; {} of {} encodings keep it", printable(kernel), from,
                          summary.kept, summary.models);
    }
    if (summary.worst) {
      text += fmt::format("; worst |error| {:.2g} at position {} ({})", summary.octave.max_abs,
                          summary.octave.position, name(*summary.worst));
    }
    text += "\n";
  }
}

}  // namespace

std::string to_text(const Run& run, bool colours) {
  const Painter painter(colours);
  std::string text;
  add_groups(run, painter, text);
  add_failures(run, painter, text);
  add_drift(run, text);
  std::set<std::string> encodings;
  for (const VerdictRecord& record : run.result.verdicts)
    encodings.insert(record.encoding ? subject_of(record) : "");
  encodings.erase("");
  text += fmt::format(
      "\n{} encodings, {} cases, {} positions; {} elements judged, {} without claim (beyond what their "
      "contract bounds); seed {}; {:.1f} s\n",
      encodings.size(), run.result.cases, run.result.positions, run.result.elements, run.result.no_claim,
      run.seed, run.seconds);
  for (const MissingKernel& missing : run.missing)
    text += fmt::format("required kernel {} is unavailable: {}\n", printable(missing.kernel),
                        printable(missing.reason));
  if (run.result.audit.points > 0) {
    text += fmt::format("truth audited against MPFR at {} points: {}\n", run.result.audit.points,
                        run.result.audit.kept() ? "all within the proved bounds"
                                                : "BOUND BROKEN, trust no verdict of this run");
  }
  if (!run.not_supported.empty()) {
    text += fmt::format("{} encodings of other schemes are not supported yet: see sextant list models\n",
                        run.not_supported.size());
  }
  bool first = true;
  for (const auto& [verdict, count] : summary_of(run)) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", count, painter.verdict(verdict, 0));
    first = false;
  }
  if (first) text += "nothing was verified";
  return text + "\n";
}

std::string to_text(const Replay& replay, const Outcome& outcome) {
  std::string text =
      fmt::format("{} on {}, {} under {}: {}\n", replay.kernel, to_string(replay.operation), replay.law,
                  replay.contract + (replay.bits_exact ? "+bits" : ""), to_string(outcome.verdict));
  const Measure& measure = outcome.measure;
  if (measure.witness) {
    const Witness& w = *measure.witness;
    text += fmt::format("worst {:.6g} {}, bound {:.6g}: {:.3g} of it\n", measure.worst, measure.unit,
                        measure.bound, measure.share());
    text += fmt::format("position {}, pair {}, {}: got {:.9g}, want {:.17g}, |error| {:.3g}\n", w.position,
                        w.pair, w.function, w.got, w.want, std::fabs(w.got - w.want));
  }
  text += fmt::format("{} elements judged, {} without claim\n", measure.elements, measure.no_claim);
  if (!outcome.reason.empty()) text += outcome.reason + "\n";
  return text;
}

}  // namespace sextant
