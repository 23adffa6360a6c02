// Frequencies as exact fractions of a turn, so that position times frequency wraps in integers without a
// range reduction.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sextant/reference/encoding.hpp"
#include "sextant/reference/number.hpp"

namespace sextant {

/// The fraction high/2^64 + low/2^96 of a turn.
struct TurnFraction {
  std::uint64_t high = 0;
  std::uint32_t low = 0;
  bool operator==(const TurnFraction&) const = default;
};

/// Per pair, the fractional part of w/(2 pi) rounded to nearest at 96 bits: |2^96 fraction - value| <= 1/2
/// modulo 2^96. The rounding is decided on intervals. A zero frequency stays zero; whole turns per position
/// drop out.
[[nodiscard]] std::vector<TurnFraction> inv_freq_turns(const Rope& rope, std::int64_t seq_len);
/// The same of frequencies that `enclose` gives at the digits in force.
[[nodiscard]] std::vector<TurnFraction> turns_of(const std::function<std::vector<Interval>()>& enclose);

/// The attention factor, correctly rounded to double.
[[nodiscard]] double attention_factor(const Rope& rope, std::int64_t seq_len);

}  // namespace sextant
