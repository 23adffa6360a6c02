// The parts of a report's page that are files of their own, embedded when built.
#pragma once
#include <string_view>

namespace sextant {

[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();
/// Chart.js; empty where it was not found when built.
[[nodiscard]] std::string_view page_charts();

}  // namespace sextant
