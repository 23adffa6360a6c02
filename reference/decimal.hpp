// Correctly rounded decimals and floating-point values of a real known by enclosures.
#pragma once
#include <functional>
#include <string>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/number.hpp"
#include "sextant/reference/symbolic.hpp"

namespace sextant {

/// A real: ever tighter enclosures at the working digits in force, and (for positive reals that can be
/// rational) exact equality with a rational.
struct Real {
  std::function<Interval()> enclose;
  std::function<bool(const Rational&)> equals = [](const Rational&) { return false; };
};

inline constexpr unsigned kMaxPrintedDigits = 1000;

/// `real` with `digits` significant digits, to nearest, ties to even; exact zero prints "0". Both ends of an
/// enclosure round to the text that is returned, and rounding is monotone, so the real itself does; a tie is
/// proved by `equals`.
[[nodiscard]] std::string decimal_of(const Real& real, unsigned digits);

/// `real` rounded to nearest even in `format`, as a double that holds it exactly (infinity on overflow).
[[nodiscard]] double nearest_of(const Real& real, const Format& format);

/// A single multiprecision value rounded to nearest even in `format`.
[[nodiscard]] double nearest_of(const Mpfr& value, const Format& format);

}  // namespace sextant
