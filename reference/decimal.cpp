// Rounding by enclosure: more digits until both ends agree, equality where they never would.
#include "sextant/reference/decimal.hpp"

#include <fmt/format.h>

#include "sextant/reference/decide.hpp"

namespace sextant {
namespace {

/// sign * digits * 10^(exponent - number of digits)
struct Decimal {
  bool negative = false;
  std::string digits;
  long exponent = 0;
  bool operator==(const Decimal&) const = default;
};

Decimal round_decimal(const Mpfr& value, unsigned digits) {
  mpfr_exp_t exponent = 0;
  char* text = mpfr_get_str(nullptr, &exponent, 10, digits, value.backend().data(), MPFR_RNDN);
  std::string_view view(text);
  Decimal decimal;
  decimal.negative = view.starts_with('-');
  if (decimal.negative) view.remove_prefix(1);
  decimal.digits = std::string(view);
  decimal.exponent = exponent;
  mpfr_free_str(text);
  return decimal;
}

Rational power_of_ten(long exponent) {
  const boost::multiprecision::mpz_int power =
      pow(boost::multiprecision::mpz_int(10), static_cast<unsigned>(std::labs(exponent)));
  return exponent < 0 ? Rational(1, power) : Rational(power);
}

std::string print(const Decimal& decimal) {
  const std::string_view digits = decimal.digits;
  const auto count = static_cast<long>(digits.size());
  const std::string_view sign = decimal.negative ? "-" : "";
  if (decimal.exponent > 0 && decimal.exponent <= count) {
    const auto whole = static_cast<std::size_t>(decimal.exponent);
    return fmt::format("{}{}{}{}", sign, digits.substr(0, whole), decimal.exponent < count ? "." : "",
                       digits.substr(whole));
  }
  if (decimal.exponent <= 0 && decimal.exponent > -5) {
    return fmt::format("{}0.{:0<{}}{}", sign, "", -decimal.exponent, digits);
  }
  return fmt::format("{}{}{}{}e{}", sign, digits.substr(0, 1), count > 1 ? "." : "", digits.substr(1),
                     decimal.exponent - 1);
}

/// Calls round(end) for both ends of ever tighter enclosures until they agree. From the second round on, asks
/// whether the real is the boundary between the two results (tie), and then returns the tie's own rounding.
template <class Result, class Round, class Tie>
Result round_by_enclosure(const Real& real, unsigned first_digits, Round round, Tie tie) {
  for (unsigned step = 0; step < 6; ++step) {
    const WorkingDigits scope(first_digits << step);
    const Interval value = real.enclose();
    const Result low = round(Mpfr(lower(value)));
    const Result high = round(Mpfr(upper(value)));
    if (low == high) return low;
    if (step == 0) continue;
    if (std::optional<Result> decided = tie(low, high)) return *decided;
  }
  throw Undecided("a rounding is undecided at the digit cap");
}

}  // namespace

std::string decimal_of(const Real& real, unsigned digits) {
  {
    const WorkingDigits scope(kFirstDigits);
    const Interval value = real.enclose();
    if (lower(value) == 0 && upper(value) == 0) return "0";
  }
  // One extra digit tells the boundary: a tie is low's digits followed by 5.
  const auto tie = [&](const Decimal& low, const Decimal& high) -> std::optional<Decimal> {
    if (low.negative) return std::nullopt;
    const long place = low.exponent - static_cast<long>(digits);
    const Rational boundary =
        (Rational(boost::multiprecision::mpz_int(low.digits)) + Rational(1, 2)) * power_of_ten(place);
    if (!real.equals(boundary)) return std::nullopt;
    return (low.digits.back() - '0') % 2 == 0 ? low : high;
  };
  return print(round_by_enclosure<Decimal>(
      real, digits + 24, [&](const Mpfr& end) { return round_decimal(end, digits); }, tie));
}

double nearest_of(const Mpfr& value, const Format& format) {
  if (value == 0) return mpfr_signbit(value.backend().data()) != 0 ? -0.0 : 0.0;
  // The exponent of mpfr has its mantissa in [1/2, 1).
  const long exponent = std::max<long>(mpfr_get_exp(value.backend().data()) - 1, format.emin);
  const long place = exponent - format.precision + 1;
  Mpfr scaled = value;
  mpfr_mul_2si(scaled.backend().data(), scaled.backend().data(), -place, MPFR_RNDN);
  mpfr_rint(scaled.backend().data(), scaled.backend().data(), MPFR_RNDN);
  mpfr_mul_2si(scaled.backend().data(), scaled.backend().data(), place, MPFR_RNDN);
  const double result = mpfr_get_d(scaled.backend().data(), MPFR_RNDN);
  if (std::fabs(result) > format.largest) return std::copysign(INFINITY, result);
  return result;
}

double nearest_of(const Real& real, const Format& format) {
  const auto tie = [&](double low, double high) -> std::optional<double> {
    if (low < 0 || !std::isfinite(high)) return std::nullopt;
    const Rational boundary = (Rational(low) + Rational(high)) / 2;
    if (!real.equals(boundary)) return std::nullopt;
    const double steps = low / ulp_of(low, format);
    return std::fmod(steps, 2) == 0 ? low : high;
  };
  return round_by_enclosure<double>(
      real, kFirstDigits, [&](const Mpfr& end) { return nearest_of(end, format); }, tie);
}

}  // namespace sextant
