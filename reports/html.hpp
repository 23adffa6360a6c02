// Runs as one self-contained page: tables that need no script, and charts drawn from the same figures.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/reports/gate.hpp"
#include "sextant/reports/run.hpp"

namespace sextant {

/// What a trend shows of one kernel in one run.
struct TrendPoint {
  std::optional<double> largest_share;  ///< error / bound
  std::optional<double> drift_error;    ///< worst |error| of tables
  std::optional<double> mean_ulp;       ///< of tables
  double not_passed = 0;                ///< verdicts worse than pass
  /// Hashes of what was verified, and of which tables: figures of other coverage are not compared.
  std::size_t verdicts = 0, tables = 0;
};

/// A run under the name of its file. The trend stays true where the verdicts of old runs are dropped.
struct NamedRun {
  NamedRun(std::string name, Run run);

  std::string name;
  Run run;
  std::map<std::string, TrendPoint> trend;  ///< by kernel
};

/// The error by stage at one position, of a document of sextant grade.
struct StageErrors {
  std::int64_t position = 0;
  std::int64_t pair = 0;
  std::string function;
  double total = 0;
  std::vector<std::pair<std::string, double>> shares;  ///< signed, by stage
};
struct GradeDocument {
  std::string kernel, encoding;
  std::vector<StageErrors> points;
};
/// Throws InputError naming `file`.
[[nodiscard]] GradeDocument parse_grade(std::string_view text, const std::string& file);

struct Report {
  std::vector<NamedRun> runs;  ///< in order of time; the last is reported, of others the trend
  std::vector<GradeDocument> grades;
  std::optional<Gate> changes;  ///< of the last against the one before
};

/// HTML with styles, scripts and data in it; it loads nothing. Names and reasons are escaped everywhere.
[[nodiscard]] std::string to_html(const Report& report);

}  // namespace sextant
