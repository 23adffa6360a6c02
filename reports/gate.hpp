// The gate: a run against a baseline, exactly, since the same inputs give the same bits.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sextant/reports/run.hpp"

namespace sextant {

/// One verdict or measure that differs.
struct Change {
  std::string key;  ///< kernel law operation dtype subject, or kernel drift .. subject
  std::string before, after;
  std::optional<Witness> witness;
  std::string replay;  ///< a command that shows it
  double weight = 0;   ///< by which changes are ordered, worst first
};

struct Gate {
  std::vector<Change> drift;         ///< worse than the baseline: what stops a release
  std::vector<Change> improvements;  ///< better
  std::vector<std::string> notes;    ///< what was not compared, and why
  std::size_t verdicts = 0;          ///< compared
  std::size_t measures = 0;          ///< compared
};

/// Every verdict, measure or table of the baseline that got worse or disappeared, every new one that is bad,
/// a truth that failed its audit, a required kernel that is missing, every measure above the baseline's by
/// more than its allowance. Order of verdicts: pass, unsupported or unavailable, undecided, mistrusted, then
/// crashed and fail.
///
/// Measures are the largest error / bound of a verdict, and of drift the worst |error| of each octave and the
/// sum of ulp errors of its table entries. They are compared where version, seed, arguments and libm
/// fingerprint agree and the target is the same (a kernel named after a CPU target: that one; any other: all
/// targets), and of a verdict also encoding and contract; else verdicts alone, which a note says. A changed
/// contract is drift.
///
/// Throws InputError where the two have no kernel in common.
[[nodiscard]] Gate compare(const Run& run, const Run& baseline, const std::string& run_file,
                           const std::string& baseline_file);

/// Whether the measures of a kernel in two runs are of the same inputs on the same machine, as far as a
/// document can tell.
[[nodiscard]] bool comparable(const Run& run, const Run& baseline, const std::string& kernel);

/// 1 where anything drifted or disappeared, 3 where nothing could be compared, else 0.
[[nodiscard]] int exit_status(const Gate& gate);

[[nodiscard]] std::string to_json(const Gate& gate);
/// At most 60 lines, worst first.
[[nodiscard]] std::string to_text(const Gate& gate, bool colours);

/// The command that measures a verdict again: its replay where it failed, else verify on it alone.
[[nodiscard]] std::string command_of(const VerdictRecord& record, const Run& run);
/// The command that looks at one octave of drift, or at all.
[[nodiscard]] std::string command_of(const DriftRecord& drift, const DriftRecord::Octave* octave);

}  // namespace sextant
