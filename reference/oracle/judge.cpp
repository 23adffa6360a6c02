#include "sextant/reference/oracle/judge.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {
namespace {

// Whether |high + low| <= half for every real within `bound` of the sum. Near half, |high| - half is exact
// and the sum of two terms has relative error 2^-53, which the widened bound covers.
bool stays_within(double high, double low, double half, double bound) {
  const double outward = high == 0 ? std::fabs(low) : high < 0 ? -low : low;
  const double beyond = (std::fabs(high) - half) + outward;
  return bound == 0 ? beyond <= 0 : beyond < -bound * (1 + 0x1p-40);
}

// The multiple of `step` nearest to the enclosure, step a power of two, or nothing. A second try serves the
// case that the low word crosses the midpoint on which the high word stands.
std::optional<double> certain_multiple(const Enclosure& x, double step) {
  double nearest = std::nearbyint(x.value.hi / step) * step;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const double rest = x.value.hi - nearest;
    if (stays_within(rest, x.value.lo, step / 2, x.bound)) return nearest;
    nearest += std::copysign(step, rest == 0 ? x.value.lo : rest);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> certain_spacing(const Wide& value, double bound, const Format& format) {
  const Wide size = abs(value);
  if (size.hi == 0 && bound == 0) return format.least_subnormal();
  int exponent = size.hi == 0 ? format.emin : std::max(std::ilogb(size.hi), format.emin);
  if (size.hi == std::ldexp(1.0, exponent) && size.lo + bound < 0)
    exponent = std::max(exponent - 1, format.emin);
  // Differences to a neighbouring power of two are exact, and one sum of two terms has the right sign;
  // the bound is widened against its own rounding.
  const double wider = bound * (1 + 0x1p-40);
  const bool above = exponent == format.emin || (size.hi - std::ldexp(1.0, exponent)) + size.lo >= wider;
  const bool below = (size.hi - std::ldexp(1.0, exponent + 1)) + size.lo < -wider;
  if (!above || !below) return std::nullopt;
  return std::ldexp(1.0, exponent - format.precision + 1);
}

Enclosure distance(double got, const Wide& value, double bound) {
  const Wide high = two_sum(got, -value.hi);
  const Wide low = two_sum(high.lo, -value.lo);
  return {abs(two_sum(high.hi, low.hi)), bound + std::fabs(low.lo)};
}

std::optional<Judgement> judge(const Enclosure& distance, double spacing) {
  constexpr double kUnits = 65536;
  const double scale = kUnits / spacing;
  const Enclosure units{{distance.value.hi * scale, distance.value.lo * scale},
                        distance.bound * scale * (1 + 0x1p-40)};
  // From 2^53 units on, doubles are sparser than units.
  const double step = std::max(1.0, std::ldexp(1.0, std::ilogb(std::max(1.0, units.value.hi)) - 52));
  const std::optional<double> rounded = certain_multiple(units, step);
  if (!rounded) return std::nullopt;
  const double beyond_half = (units.value.hi - kUnits / 2) + units.value.lo;
  if (units.bound > 0 && std::fabs(beyond_half) <= units.bound) return std::nullopt;
  return Judgement{*rounded / kUnits, beyond_half <= 0};
}

std::optional<double> certain_double(const Enclosure& enclosure) {
  const double nearest = enclosure.value.hi;
  const double rest = enclosure.value.lo;
  if (enclosure.bound == 0) return nearest;
  const double gap =
      rest < 0 ? nearest - std::nextafter(nearest, 0) : std::nextafter(nearest, INFINITY) - nearest;
  if (nearest == 0 || std::fabs(rest) + enclosure.bound * (1 + 0x1p-40) >= gap / 2) return std::nullopt;
  return nearest;
}

std::optional<double> certain_rounding(const Wide& value, double bound, const Format& format) {
  // With a quarter of the spacing to spare, a nearest value that is a power of two stays nearest although the
  // truth may lie below it, where values are twice as dense.
  const double spacing = ulp_of(value.hi, format);
  if (bound >= spacing / 4) return std::nullopt;
  const std::optional<double> nearest = certain_multiple({value, bound}, spacing);
  if (!nearest) return std::nullopt;
  const double rounded = std::copysign(*nearest, value.hi);
  return std::fabs(rounded) > format.largest ? std::copysign(INFINITY, rounded) : rounded;
}

}  // namespace sextant::oracle
