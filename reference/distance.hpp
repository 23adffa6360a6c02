// The elementary measures: floating-point formats, ulp of a true value, errors in ulp and in pair-ulp.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "sextant/reference/wide.hpp"

namespace sextant {

/// 2^exponent, -1074 <= exponent < 1024.
[[nodiscard]] constexpr double power_of_two(int exponent) {
  const auto bits = exponent < -1022 ? std::uint64_t{1} << (exponent + 1074)
                                     : static_cast<std::uint64_t>(exponent + 1023) << 52;
  return std::bit_cast<double>(bits);
}

/// A binary format: precision in bits (with the hidden one), least normal exponent, largest finite value.
struct Format {
  std::string_view name;
  int precision;
  int emin;
  double largest;

  [[nodiscard]] constexpr double unit_roundoff() const { return power_of_two(-precision); }
  [[nodiscard]] constexpr double least_subnormal() const { return power_of_two(emin - precision + 1); }
};

inline constexpr Format kFloat64{"f64", 53, -1022, 0x1.fffffffffffffp1023};
inline constexpr Format kFloat32{"f32", 24, -126, 0x1.fffffep127};
inline constexpr Format kFloat16{"f16", 11, -14, 65504};
inline constexpr Format kBFloat16{"bf16", 8, -126, 0x1.fep127};

/// `value` rounded to nearest even in `format` (infinity on overflow): a double that holds it exactly.
[[nodiscard]] inline double round_to(double value, const Format& format) {
  if (value == 0 || !std::isfinite(value) || format.precision == 53) return value;
  const int place = std::max(std::ilogb(value), format.emin) - format.precision + 1;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -place)), place);
  return std::fabs(rounded) > format.largest ? std::copysign(INFINITY, value) : rounded;
}

/// 2^(max(floor(log2 |truth|), emin) - p + 1): the spacing at a true value; the least subnormal for 0.
[[nodiscard]] inline double ulp_of(double truth, const Format& format) {
  if (truth == 0) return format.least_subnormal();
  return std::ldexp(1.0, std::max(std::ilogb(truth), format.emin) - format.precision + 1);
}

/// |got - truth| in ulp of the true value; NaN and a wrong infinity give infinity.
[[nodiscard]] inline double error_ulp(double got, const Wide& truth, const Format& format) {
  if (!std::isfinite(got)) return INFINITY;
  return std::fabs((Wide(got) - truth).value()) / ulp_of(truth.value(), format);
}

/// |got - truth| / max(u N, half the least subnormal), N the attention factor times the norm of the input
/// pair.
[[nodiscard]] inline double pair_ulp(double got, const Wide& truth, double norm, const Format& format) {
  if (!std::isfinite(got)) return INFINITY;
  const double error = std::fabs((Wide(got) - truth).value());
  if (error == 0) return 0;
  if (norm == 0) return INFINITY;
  return error / std::max(format.unit_roundoff() * norm, format.least_subnormal() / 2);
}

}  // namespace sextant
