// A run as text that fits a screen: a line per kernel and law, failures worst first, drift, counts.
#pragma once
#include <string>

#include "sextant/reports/run.hpp"

namespace sextant {

/// At most 60 lines of at most 160 columns (replay lines excepted); colours where asked for.
[[nodiscard]] std::string to_text(const Run& run, bool colours);

/// One trial in full: what `replay` prints.
[[nodiscard]] std::string to_text(const Replay& replay, const Outcome& outcome);

}  // namespace sextant
