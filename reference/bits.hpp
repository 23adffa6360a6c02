// The stored bits of float32, float16 and bfloat16 values: exact one way, rounded to nearest even the other.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/reference/distance.hpp"

namespace sextant {

[[nodiscard]] constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
/// NaN stays NaN, quiet, with the upper bits of its payload.
[[nodiscard]] constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

[[nodiscard]] constexpr float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  if ((bits & 0x7c00) == 0x7c00) return std::bit_cast<float>(sign | rest | 0x7f800000);
  // Exponent bias 15 to 127: a product with 2^112, exact for subnormals too.
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * 0x1p112F) | sign);
}
/// NaN stays NaN, quiet, with the upper bits of its payload; 65520 and beyond become infinity.
[[nodiscard]] constexpr std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 << 15;
  const std::uint32_t rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00 | (rest >> 13 & 0x3ff));
  if (rest >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) {
    // Below 2^-14: the sum with 1/2 has its last place at 2^-24, the least subnormal.
    const float aligned = std::bit_cast<float>(rest) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000));
  }
  return static_cast<std::uint16_t>(sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13);
}

/// The value that `bits` hold in a format of at most 32 bits.
[[nodiscard]] inline double value_of_bits(std::uint32_t bits, const Format& format) {
  if (format.precision == kFloat32.precision) return std::bit_cast<float>(bits);
  const auto narrow = static_cast<std::uint16_t>(bits);
  return format.precision == kBFloat16.precision ? from_bf16(narrow) : from_f16(narrow);
}

/// The bits of a value that the format holds exactly, or of an infinity.
[[nodiscard]] inline std::uint32_t bits_of_value(double value, const Format& format) {
  const auto single = static_cast<float>(value);
  if (format.precision == kFloat32.precision) return std::bit_cast<std::uint32_t>(single);
  return format.precision == kBFloat16.precision ? to_bf16(single) : to_f16(single);
}

}  // namespace sextant
