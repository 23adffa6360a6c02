// The decisions of YaRN, taken once on intervals: the ramp's range after rounding and clamping, and each
// pair's band.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/reference/encoding.hpp"

namespace sextant {

/// An end of the ramp: an integer after rounding or clamping, else corr(beta), the (real) pair index at which
/// the wavelength makes `beta` rotations over the original length.
struct RampEnd {
  std::optional<std::int64_t> integer;
  double beta = 0;
};

/// What a pair is on the ramp: kept as it is (g = 0), on the ramp, or interpolated in full (g = 1).
enum class Band { kept, ramp, interpolated };

struct YarnRamp {
  RampEnd low, high;
  bool widened = false;  ///< low = high, so that upstream adds 1/1000 to high
  std::vector<Band> bands;
  int order = 1;  ///< sign of high - low: -1 is the reversed ramp of a degenerate range
};

[[nodiscard]] YarnRamp decide_yarn_ramp(const Rope& rope, const scaling::Yarn& yarn);

}  // namespace sextant
