// The run document: verdicts and measures as JSON, from which every report is drawn.
#pragma once
#include <string>
#include <vector>

#include "sextant/props/suite.hpp"
#include "sextant/reports/environment.hpp"

namespace sextant {

struct UnsupportedModel {
  std::string model;
  std::string reason;
};

/// A kernel that was required and cannot run here.
struct MissingKernel {
  std::string kernel;
  std::string reason;
};

struct Run {
  Environment environment;
  std::uint64_t seed = 0;
  SuiteResult result;
  std::vector<UnsupportedModel> not_supported;  ///< models whose scheme cannot be verified yet
  std::vector<MissingKernel> missing;           ///< required kernels that cannot run here
  std::size_t models = 0;                       ///< models verified
  double seconds = 0;
};

/// Verdict counts in the order of the enumeration.
[[nodiscard]] std::vector<std::pair<Verdict, std::size_t>> summary_of(const Run& run);

/// 0 something passed and nothing failed; 1 a failure, crash, undecided or mistrusted, or a required kernel
/// is missing; 3 nothing was verified.
[[nodiscard]] int exit_status(const Run& run);

/// Indented JSON, keys in a fixed order, non-finite numbers as "inf", "-inf" and "nan".
[[nodiscard]] std::string to_json(const Run& run);

}  // namespace sextant
