// A run as GitHub reads it: Markdown for a pull request or job summary, and annotations in a log.
#pragma once
#include <optional>
#include <string>

#include "sextant/reports/gate.hpp"
#include "sextant/reports/run.hpp"

namespace sextant {

/// At most 60 lines and 60 kB: the verdict first, what changed where a comparison is given, then failures
/// worst first, then a line per kernel.
[[nodiscard]] std::string to_markdown(const Run& run, const std::optional<Gate>& changes);

/// A log command of GitHub Actions for each of the ten worst failures or changes, which it shows beside the
/// job.
[[nodiscard]] std::string to_annotations(const Run& run, const std::optional<Gate>& changes);

}  // namespace sextant
