// The stored bits of float32, float16 and bfloat16 values, to doubles and back.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/reference/distance.hpp"

namespace sextant {

/// The value that `bits` hold in a format of at most 32 bits.
[[nodiscard]] inline double value_of_bits(std::uint32_t bits, const Format& format) {
  if (format.precision == kFloat32.precision) return std::bit_cast<float>(bits);
  if (format.precision == kBFloat16.precision) return std::bit_cast<float>(bits << 16);
  // float16: five exponent bits with bias 15, subnormals in units of 2^-24.
  const auto magnitude = static_cast<int>(bits & 0x7fff);
  const int exponent = magnitude >> 10;
  const double value = exponent == 31  ? (magnitude == 0x7c00 ? INFINITY : NAN)
                       : exponent == 0 ? std::ldexp(magnitude, -24)
                                       : std::ldexp((magnitude & 0x3ff) | 0x400, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

/// The bits of a value that the format holds exactly, or of an infinity.
[[nodiscard]] inline std::uint32_t bits_of_value(double value, const Format& format) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (format.precision == kFloat32.precision) return single;
  if (format.precision == kBFloat16.precision) return single >> 16;
  const std::uint32_t sign = single >> 31 << 15;
  const double magnitude = std::fabs(value);
  if (magnitude > format.largest) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
  const int exponent = std::ilogb(magnitude);
  const std::uint32_t fraction = static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) & 0x3ff;
  return sign | static_cast<std::uint32_t>(exponent + 15) << 10 | fraction;
}

}  // namespace sextant
