// The run document: verdicts and measures as JSON (run.schema.json), from which every report is drawn.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sextant/props/suite.hpp"
#include "sextant/reports/environment.hpp"

namespace sextant {

struct UnsupportedModel {
  std::string model;
  std::string reason;
  bool operator==(const UnsupportedModel&) const = default;
};

/// A kernel that was required and cannot run here.
struct MissingKernel {
  std::string kernel;
  std::string reason;
  bool operator==(const MissingKernel&) const = default;
};

/// How much worse the measures of some kernels and laws may get before a gate stops them; * and ? match
/// names.
struct Allowance {
  std::string kernel, law;
  double relative = 0;
  std::string reason;
};

struct Run {
  std::string version = kVersion;  ///< of the tool that made it
  Environment environment;
  std::uint64_t seed = 0;
  std::string arguments;  ///< options of verify that change cases or contracts, as on its command line
  SuiteResult result;
  std::vector<UnsupportedModel> not_supported;  ///< models whose scheme cannot be verified yet
  std::vector<MissingKernel> missing;           ///< required kernels that cannot run here
  std::size_t models = 0;                       ///< models verified
  double seconds = 0;
  std::vector<Allowance> allowances;  ///< of a baseline
};

/// Verdict counts in the order of the enumeration.
[[nodiscard]] std::vector<std::pair<Verdict, std::size_t>> summary_of(const Run& run);

/// 0 something passed and nothing failed; 1 a failure, crash, undecided or mistrusted, or a required kernel
/// is missing; 3 nothing was verified.
[[nodiscard]] int exit_status(const Run& run);

/// Of the table entries that the drift was measured on, in float32.
[[nodiscard]] double mean_ulp(const DriftRecord& drift);

/// What a verdict is of: the model, else the encoding, else "any encoding".
[[nodiscard]] std::string subject_of(const VerdictRecord& record);

/// JSON, keys in a fixed order, a line for each verdict and drift with what is null left out, non-finite
/// numbers as "inf", "-inf" and "nan". What is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string to_json(const Run& run);

/// The run that a document tells of; to_json gives the document again. Throws InputError naming `file` for
/// another schema version, for a document cut short, and for what no run can have written.
[[nodiscard]] Run parse_run(std::string_view text, const std::string& file);

/// One run out of several: verdicts of different kernels, models or laws, or of different machines. Throws
/// InputError where the same verdict stands twice, where tables measured twice differ, or where seed, options
/// or version do. What is unavailable in one document yields to what another says of it.
[[nodiscard]] Run merge_runs(std::vector<Run> runs, const std::vector<std::string>& files);

}  // namespace sextant
