// Comparing runs.
#include "sextant/reports/gate.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/reference/error.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/output.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return 0;
    case Verdict::unsupported:
    case Verdict::unavailable:
      return 1;
    case Verdict::undecided:
      return 2;
    case Verdict::mistrusted:
      return 3;
    case Verdict::crashed:
    case Verdict::fail:
      break;
  }
  return 4;
}

/// One word of a shell, whatever a document's name holds.
std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || strchr("._/:+-", c);
  };
  if (!text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string shell = "'";
  for (const char c : text) {
    if (c == '\'') {
      shell += "'\\''";
    } else {
      shell += c;
    }
  }
  return shell + "'";
}

std::string key_of(const VerdictRecord& record) {
  return fmt::format("{} {} {} {} {}", quoted(record.kernel), quoted(record.law), to_string(record.operation),
                     to_string(record.dtype), subject_of(record));
}

std::string subject_of(const DriftRecord& drift) { return drift.model.value_or(drift.encoding); }

/// What keeps the measures of two runs from being compared; empty: nothing does.
std::string differences_of(const Run& run, const Run& baseline) {
  std::vector<std::string_view> differ;
  if (run.version != baseline.version) differ.emplace_back("version");
  if (run.seed != baseline.seed) differ.emplace_back("seed");
  if (run.arguments != baseline.arguments) differ.emplace_back("options");
  if (run.environment.libm_fingerprint != baseline.environment.libm_fingerprint)
    differ.emplace_back("libm fingerprint");
  return fmt::format("{}", fmt::join(differ, ", "));
}

/// Records by key; of several with one key the worst.
using Index = std::map<std::string, const VerdictRecord*>;
Index index_of(const Run& run) {
  Index index;
  for (const VerdictRecord& record : run.result.verdicts) {
    const VerdictRecord*& at = index[key_of(record)];
    if (!at || rank(record.verdict) > rank(at->verdict)) at = &record;
  }
  return index;
}

std::set<std::string> kernels_of(const Run& run) {
  std::set<std::string> kernels;
  for (const VerdictRecord& record : run.result.verdicts) kernels.insert(record.kernel);
  return kernels;
}

/// The CPU target whose code a kernel is, or all targets of the machine.
std::string target_of(const std::string& kernel, const Run& run) {
  for (const std::string& target : run.environment.targets) {
    if (kernel.ends_with("/" + target) || kernel.find("/" + target + "-") != std::string::npos) return target;
  }
  return fmt::format("{}", fmt::join(run.environment.targets, " "));
}

std::string measured(const VerdictRecord& record) {
  if (!record.measure.witness) return std::string(to_string(record.verdict));
  // To the last digit: a change of one bit is to be seen.
  return fmt::format("{}, {:.6g} of its bound ({} {}, bound {})", to_string(record.verdict),
                     record.measure.share(), record.measure.worst, record.measure.unit, record.measure.bound);
}

std::string with_reason(const VerdictRecord& record) {
  const std::string text = record.reason.empty()
                               ? measured(record)
                               : fmt::format("{}: {}", to_string(record.verdict), record.reason);
  return text;
}

class Comparison {
 public:
  Comparison(const Run& run, const Run& baseline)
      : run_(run), base_(baseline), why_(differences_of(run, baseline)) {}

  Gate gate() {
    compare_trust();
    compare_verdicts();
    compare_drift();
    if (!why_.empty())
      gate_.notes.push_back(fmt::format("measures were NOT compared, verdicts alone: not the same {}", why_));
    if (!other_target_.empty())
      gate_.notes.push_back(fmt::format("measures of {} were NOT compared: CPU targets differ",
                                        fmt::join(other_target_, ", ")));
    if (other_inputs_ > 0)
      gate_.notes.push_back(
          fmt::format("{} measures were NOT compared: their encodings differ", other_inputs_));
    if (new_ > 0) gate_.notes.push_back(fmt::format("{} verdicts are new", new_));
    if (fewer_ > 0)
      gate_.notes.push_back(fmt::format("{} verdicts rest on fewer elements than in the baseline", fewer_));
    const auto worst_first = [](std::vector<Change>& changes) {
      std::stable_sort(changes.begin(), changes.end(),
                       [](const Change& a, const Change& b) { return a.weight > b.weight; });
    };
    worst_first(gate_.drift);
    worst_first(gate_.improvements);
    return std::move(gate_);
  }

 private:
  static constexpr double kMost = 1e307, kGone = 1e300, kVerdict = 1e298;  // before every measure

  /// Every measure of this kernel, or none.
  bool comparable(const std::string& kernel) {
    if (!why_.empty()) return false;
    if (target_of(kernel, run_) == target_of(kernel, base_)) return true;
    other_target_.insert(kernel);
    return false;
  }

  [[nodiscard]] double allowance(const std::string& kernel, const std::string& law) const {
    double most = 0;
    for (const Allowance& entry : base_.allowances) {
      if (fnmatch(entry.kernel.c_str(), kernel.c_str(), 0) == 0 &&
          fnmatch(entry.law.c_str(), law.c_str(), 0) == 0)
        most = std::max(most, entry.relative);
    }
    return most;
  }

  /// What stops a run before its verdicts do.
  void compare_trust() {
    if (!run_.result.audit.kept())
      gate_.drift.push_back({"audit of the truth against MPFR", base_.result.audit.kept() ? "kept" : "failed",
                             "failed: trust no verdict of this run", std::nullopt, "", 2 * kMost});
    for (const MissingKernel& missing : run_.missing) {
      const auto same = [&](const MissingKernel& old) { return old.kernel == missing.kernel; };
      if (std::none_of(base_.missing.begin(), base_.missing.end(), same))
        gate_.drift.push_back({fmt::format("required kernel {}", missing.kernel), "here",
                               fmt::format("unavailable: {}", missing.reason), std::nullopt,
                               fmt::format("sextant verify --require {}", quoted(missing.kernel)), kMost});
    }
  }

  void compare_verdicts() {
    const Index now = index_of(run_), before = index_of(base_);
    for (const auto& [key, old] : before) {
      const auto found = now.find(key);
      if (found == now.end()) {
        gone_.push_back(old);
        continue;
      }
      const VerdictRecord& current = *found->second;
      if (rank(old->verdict) != 1 || rank(current.verdict) != 1) ++gate_.verdicts;
      compare_record(key, *old, current);
    }
    for (const auto& [key, record] : now) {
      if (before.contains(key)) continue;
      ++new_;
      if (rank(record->verdict) >= 2)
        gate_.drift.push_back({key, "not in the baseline", with_reason(*record), record->witness,
                               command_of(*record, run_), kVerdict * (1 + rank(record->verdict))});
    }
    tell_gone();
  }

  void compare_record(const std::string& key, const VerdictRecord& old, const VerdictRecord& current) {
    const int worse = rank(current.verdict) - rank(old.verdict);
    Change change{key, with_reason(old), with_reason(current), current.witness, command_of(current, run_), 0};
    if (worse != 0) {
      change.weight = kVerdict * (1 + rank(worse > 0 ? current.verdict : old.verdict));
      (worse > 0 ? gate_.drift : gate_.improvements).push_back(std::move(change));
      return;
    }
    if (current.contract != old.contract) {
      exchanged(std::move(change), old.contract, current);
      return;
    }
    if (old.measure.witness && !current.measure.witness && current.verdict == Verdict::pass) {
      change.after = "pass, and measured no more";
      change.weight = kGone;
      gate_.drift.push_back(std::move(change));
      return;
    }
    if (!old.measure.witness || !current.measure.witness || !comparable(current.kernel)) return;
    if (old.encoding != current.encoding) {
      ++other_inputs_;
      return;
    }
    ++gate_.measures;
    fewer_ += current.measure.elements < old.measure.elements;
    weigh(std::move(change), old.measure.share(), current.measure.share(),
          allowance(current.kernel, current.law));
  }

  /// Told once for each kernel.
  void exchanged(Change change, const std::string& old, const VerdictRecord& current) {
    change.key = fmt::format("contract of kernel {}", current.kernel);
    change.before = fmt::format("judged by {}", old);
    change.after = fmt::format("judged by {}", current.contract);
    change.witness.reset();
    change.weight = kVerdict;
    if (exchanged_.insert(change.key + change.before + change.after).second)
      gate_.drift.push_back(std::move(change));
  }

  void weigh(Change change, double old, double current, double allowed) {
    // A product with infinity stays infinite, and 0 allows nothing.
    if (current > old * (1 + allowed)) {
      change.weight = old > 0 ? std::min(current / old, 1e297) : 1e297;
      gate_.drift.push_back(std::move(change));
    } else if (current < old) {
      change.weight = current > 0 ? std::min(old / current, 1e297) : 1e297;
      gate_.improvements.push_back(std::move(change));
    }
  }

  /// A kernel that is gone is told once, then laws, then models, then what is left.
  void tell_gone() {
    std::set<std::string> kernels, laws, subjects;
    for (const VerdictRecord& record : run_.result.verdicts) {
      kernels.insert(record.kernel);
      laws.insert(record.law);
      subjects.insert(subject_of(record));
    }
    std::map<std::string, std::size_t> told;
    for (const VerdictRecord* old : gone_) {
      std::string what = key_of(*old);
      if (!kernels.contains(old->kernel)) {
        what = fmt::format("kernel {}", old->kernel);
      } else if (!laws.contains(old->law)) {
        what = fmt::format("law {}", old->law);
      } else if (!subjects.contains(subject_of(*old))) {
        what = fmt::format("{} {}", old->model ? "model" : "encoding", subject_of(*old));
      }
      if (++told[what] > 1) continue;
      gate_.drift.push_back(
          {what, with_reason(*old), "disappeared", old->witness, command_of(*old, base_), kGone});
    }
    for (Change& change : gate_.drift) {
      if (change.after != "disappeared" || told[change.key] < 2) continue;
      change.weight = kGone * static_cast<double>(told[change.key]);
      change.before = fmt::format("{} verdicts", told[change.key]);
      change.witness.reset();
    }
  }

  /// Tables that are measured no more though verdicts of their kernel and encoding are there; else these are
  /// told to be gone. Once for each kernel.
  void tell_gone_tables(const std::vector<const DriftRecord*>& gone) {
    if (gone.empty()) return;
    std::set<std::pair<std::string, std::string>> there;
    for (const VerdictRecord& record : run_.result.verdicts) there.emplace(record.kernel, subject_of(record));
    std::map<std::string, std::vector<const DriftRecord*>> kernels;
    for (const DriftRecord* old : gone) {
      if (there.contains({old->kernel, subject_of(*old)})) kernels[old->kernel].push_back(old);
    }
    for (const auto& [kernel, tables] : kernels) {
      const std::string of = tables.size() == 1 ? subject_of(*tables[0]) : "several encodings";
      gate_.drift.push_back(
          {fmt::format("{} drift of tables, {}", kernel, of),
           tables.size() == 1 ? "measured" : fmt::format("measured on {} encodings", tables.size()),
           "disappeared", std::nullopt, command_of(*tables[0], nullptr), kGone});
    }
  }

  void compare_drift() {
    std::map<std::pair<std::string, std::string>, const DriftRecord*> now;
    for (const DriftRecord& drift : run_.result.drift) now[{drift.kernel, subject_of(drift)}] = &drift;
    std::vector<const DriftRecord*> gone;
    for (const DriftRecord& old : base_.result.drift) {
      const auto found = now.find({old.kernel, subject_of(old)});
      if (found == now.end()) {
        gone.push_back(&old);
        continue;
      }
      if (!comparable(old.kernel)) continue;
      const DriftRecord& current = *found->second;
      if (old.encoding != current.encoding || old.context != current.context ||
          old.positions != current.positions) {
        ++other_inputs_;
        continue;
      }
      // The same positions have the same octaves, in any document that a run wrote.
      if (old.by_octave.size() != current.by_octave.size()) {
        gone.push_back(&old);
        continue;
      }
      const double allowed = allowance(old.kernel, "drift");
      for (std::size_t i = 0; i < old.by_octave.size(); ++i) {
        const DriftRecord::Octave &a = old.by_octave[i], &b = current.by_octave[i];
        ++gate_.measures;
        weigh({fmt::format("{} drift of tables, positions from {}, {}", old.kernel, a.first, subject_of(old)),
               fmt::format("|error| {} at position {}, pair {}", a.max_abs, a.position, a.pair),
               fmt::format("|error| {} at position {}, pair {}", b.max_abs, b.position, b.pair), std::nullopt,
               command_of(current, &b), 0},
              a.max_abs, b.max_abs, allowed);
      }
      ++gate_.measures;
      const auto sum = [](const DriftRecord& drift) { return std::pair(drift.sum.high, drift.sum.low); };
      Change change{fmt::format("{} table entries, {}", old.kernel, subject_of(old)),
                    fmt::format("mean {} ulp", mean_ulp(old)),
                    fmt::format("mean {} ulp", mean_ulp(current)),
                    std::nullopt,
                    command_of(current, nullptr),
                    0};
      const double before = old.sum.ulp(), after = current.sum.ulp();
      if (allowed == 0 && sum(current) > sum(old)) {
        // Exact, where doubles might call two sums equal.
        change.weight = before > 0 ? std::max(1.0, after / before) : 1e297;
        gate_.drift.push_back(std::move(change));
      } else {
        weigh(std::move(change), before, after, allowed);
      }
    }
    tell_gone_tables(gone);
  }

  const Run &run_, &base_;
  std::string why_;  // why measures cannot be compared
  std::set<std::string> other_target_, exchanged_;
  std::size_t other_inputs_ = 0, new_ = 0, fewer_ = 0;
  std::vector<const VerdictRecord*> gone_;
  Gate gate_;
};

ordered_json changes_of(const std::vector<Change>& changes) {
  ordered_json list = ordered_json::array();
  for (const Change& change : changes) {
    ordered_json witness = nullptr;
    if (change.witness)
      witness = {{"position", change.witness->position},
                 {"pair", change.witness->pair},
                 {"function", change.witness->function},
                 {"got", number(change.witness->got)},
                 {"want", number(change.witness->want)}};
    list.push_back({{"key", change.key},
                    {"old", change.before},
                    {"new", change.after},
                    {"witness", std::move(witness)},
                    {"replay", change.replay}});
  }
  return list;
}

}  // namespace

Gate compare(const Run& run, const Run& baseline, const std::string& run_file,
             const std::string& baseline_file) {
  const std::set<std::string> now = kernels_of(run), before = kernels_of(baseline);
  const bool any =
      std::any_of(now.begin(), now.end(), [&](const auto& name) { return before.contains(name); });
  if (!any && !before.empty())
    throw InputError(fmt::format(
        "{} is a baseline for other kernels ({}) than {} ({}); make one with sextant gate --update",
        baseline_file, fmt::join(before, ", "), run_file,
        now.empty() ? "none" : fmt::format("{}", fmt::join(now, ", "))));
  return Comparison(run, baseline).gate();
}

bool comparable(const Run& run, const Run& baseline, const std::string& kernel) {
  return differences_of(run, baseline).empty() && target_of(kernel, run) == target_of(kernel, baseline);
}

int exit_status(const Gate& gate) {
  if (!gate.drift.empty()) return 1;
  return gate.verdicts == 0 ? 3 : 0;
}

std::string to_json(const Gate& gate) {
  const ordered_json document = {{"schema_version", 1},
                                 {"document", "gate"},
                                 {"compared", {{"verdicts", gate.verdicts}, {"measures", gate.measures}}},
                                 {"drift", changes_of(gate.drift)},
                                 {"improvements", changes_of(gate.improvements)},
                                 {"notes", gate.notes}};
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_text(const Gate& gate, bool colours) {
  constexpr std::size_t kMostDrift = 8, kMostBetter = 5;
  const auto painted = [&](std::string_view text, const char* code) {
    return colours ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostDrift, gate.drift.size()); ++i) {
    const Change& change = gate.drift[i];
    text += fmt::format("{} {}\n  was  {}\n  now  {}\n", painted("worse", "31;1"), printable(change.key),
                        printable(change.before), printable(change.after));
    if (change.witness)
      text += fmt::format("  at   position {}, pair {}, {}: got {:.9g}, want {:.17g}\n",
                          change.witness->position, change.witness->pair, printable(change.witness->function),
                          change.witness->got, change.witness->want);
    if (!change.replay.empty()) text += fmt::format("  {}\n", printable(change.replay));
  }
  if (gate.drift.size() > kMostDrift)
    text += fmt::format("... and {} more: see --json\n", gate.drift.size() - kMostDrift);
  for (std::size_t i = 0; i < std::min(kMostBetter, gate.improvements.size()); ++i) {
    const Change& change = gate.improvements[i];
    text += fmt::format("{} {}: {} -> {}\n", painted("better", "32"), printable(change.key),
                        printable(change.before), printable(change.after));
  }
  if (gate.improvements.size() > kMostBetter)
    text += fmt::format("... and {} more improvements\n", gate.improvements.size() - kMostBetter);
  for (const std::string& note : gate.notes) text += fmt::format("note: {}\n", printable(note));
  if (exit_status(gate) == 3) return text + "gate: nothing comparable\n";
  return text + fmt::format("gate: {}; {} worse, {} better; {} verdicts and {} measures compared\n",
                            gate.drift.empty() ? painted("held", "32") : painted("DRIFT", "31;1"),
                            gate.drift.size(), gate.improvements.size(), gate.verdicts, gate.measures);
}

std::string command_of(const VerdictRecord& record, const Run& run) {
  if (!record.replay.empty()) return fmt::format("sextant replay {}", quoted(record.replay));
  const std::string encoding =
      record.encoding ? fmt::format(" --encoding {}", quoted(*record.encoding)) : std::string();
  return fmt::format("sextant verify --kernel {} --law {} --operation {} --dtype {}{} --seed {}{}{}",
                     quoted(record.kernel), quoted(record.law), to_string(record.operation),
                     to_string(record.dtype), encoding, run.seed, run.arguments.empty() ? "" : " ",
                     run.arguments);
}

std::string command_of(const DriftRecord& drift, const DriftRecord::Octave* octave) {
  const std::string positions = octave ? fmt::format("{}:{}", octave->position, octave->position + 1)
                                       : fmt::format("0:{}", drift.context);
  return fmt::format("sextant sweep {} --kernel {} --seq-len {} --positions {}", quoted(drift.encoding),
                     quoted(drift.kernel), drift.context, positions);
}

}  // namespace sextant
