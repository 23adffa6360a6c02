// From arbitrary precision to the integers that the tables are multiplied from.
#pragma once
#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/fixed.hpp"
#include "sextant/reference/oracle/phase.hpp"

namespace sextant::oracle {

/// Digits of every frequency and factor the oracle holds: 320 bits, so that position * w is good to 2^-270
/// rad at 2^40 and w of a few radians.
inline constexpr unsigned kSeedDigits = 97;

/// Nearest fixed-point value of |x| < 2: it errs by at most 2^-191.
[[nodiscard]] Fixed to_fixed(const Mpfr& x);

/// e^(i angle), each component within 2^-190.9 (the rounding of 256 bits and of the fixed point).
[[nodiscard]] Phasor phasor(const Mpfr& angle);

/// w/2pi mod 1 as a 128-bit fraction, to nearest.
[[nodiscard]] TurnsPerPosition turns_per_position(const Mpfr& w);

}  // namespace sextant::oracle
