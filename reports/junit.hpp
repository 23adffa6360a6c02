// A run as JUnit XML, which CI services read.
#pragma once
#include <string>

#include "sextant/reports/run.hpp"

namespace sextant {

/// One test case per verdict, classname KERNEL.LAW, name MODEL/OPERATION; one for the audit of the truth, and
/// an error for each required kernel that is missing.
/// fail is a failure; crashed, mistrusted and undecided are errors; unavailable and unsupported are skipped.
/// Well-formed XML 1.0 in UTF-8 whatever names and reasons hold: what XML cannot hold is left out, and bytes
/// that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string to_junit(const Run& run);

}  // namespace sextant
