// The decisions of Llama 3 scaling, taken once on intervals: each pair's band by its wavelength.
#pragma once
#include <vector>

#include "sextant/reference/rope/yarn.hpp"

namespace sextant {

/// kept below the high-frequency wavelength, interpolated above the low-frequency one, ramp between.
[[nodiscard]] std::vector<Band> decide_llama3_bands(const Rope& rope, const scaling::Llama3& llama3);

}  // namespace sextant
