// How values of a table are stored: bits to doubles and back.
#pragma once
#include <bit>
#include <cstdint>
#include <string>

#include "sextant/reference/bits.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/lanes.hpp"

namespace sextant::oracle {

[[nodiscard]] inline Storage storage_of(const Format& format) {
  if (format.precision == kFloat32.precision) return Storage::float32;
  if (format.precision == kFloat16.precision) return Storage::float16;
  if (format.precision == kBFloat16.precision) return Storage::bfloat16;
  throw InputError("oracle: tables of format " + std::string(format.name) +
                   " are not judged; use f32, f16 or bf16");
}

/// The bits of one stored value, its double, and 0.75 (what idle lanes hold).
template <class Bits>
struct Codec {
  Storage storage;

  [[nodiscard]] Bits idle() const {
    if constexpr (sizeof(Bits) == 4) return 0x3f400000;
    return storage == Storage::float16 ? 0x3a00 : 0x3f40;
  }
  [[nodiscard]] double decode(Bits bits) const {
    if constexpr (sizeof(Bits) == 4) return std::bit_cast<float>(bits);
    const auto narrow = static_cast<std::uint16_t>(bits);
    return storage == Storage::bfloat16 ? from_bf16(narrow) : from_f16(narrow);
  }
  /// `value` is representable.
  [[nodiscard]] Bits encode(double value) const {
    const auto single = static_cast<float>(value);
    if constexpr (sizeof(Bits) == 4) return std::bit_cast<std::uint32_t>(single);
    return storage == Storage::bfloat16 ? to_bf16(single) : to_f16(single);
  }
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
};

/// Whether all n values agree with `want` outside the ignored bits.
template <class Bits>
[[nodiscard]] bool all_equal(const Bits* data, std::int64_t step, std::size_t n, Bits want, Bits ignored) {
  Bits differ = 0;
  if (step == 1)
    for (std::size_t k = 0; k < n; ++k) differ |= static_cast<Bits>(data[k] ^ want);
  else
    for (std::size_t k = 0; k < n; ++k)
      differ |= static_cast<Bits>(data[static_cast<std::int64_t>(k) * step] ^ want);
  return static_cast<Bits>(differ & static_cast<Bits>(~ignored)) == 0;
}

}  // namespace sextant::oracle
