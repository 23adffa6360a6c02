// A number type that says how far floating-point evaluation may stray: the exact real, and a bound on
// |what a P-bit evaluation of the same expression returns - that real|.
//
// A scheme's definition, instantiated over Rounded<24>, gives the error bound of its float32 recipe. Every
// operation of the recipe returns fl(x) = x (1 + e) + h with |e| <= u = 2^-P, |h| <= half the smallest
// subnormal (IEEE 754), the library functions pow, exp and log are assumed within one ulp, that is |e| <= 2u,
// and sqrt is correctly rounded. Operands carry their own errors, which are propagated in full (no
// first-order truncation), on magnitudes taken from the enclosure. What is exact stays exact: a result that
// is a single P-bit number computed from exact operands has no error, and so have x + 0, 1 * x, 0 * x, pow(x,
// 0) and exp(0) (C23 annex F). Errors are doubles inflated by 2^-40 per operation, which covers the rounding
// of their own arithmetic.
#pragma once
#include <cmath>
#include <limits>

#include "sextant/reference/number.hpp"

namespace sextant {

template <int P>
class Rounded {
 public:
  static_assert(P == 24 || P == 53);
  static constexpr double kUnit = P == 24 ? 0x1p-24 : 0x1p-53;
  static constexpr double kHalfSubnormal = P == 24 ? 0x1p-150 : 0x1p-1074;
  static constexpr double kLargest =
      P == 24 ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();

  Rounded() : Rounded(0) {}
  explicit Rounded(int value) : Rounded(std::int64_t{value}) {}
  explicit Rounded(std::int64_t value) : Rounded(Interval(value), 0) {}
  explicit Rounded(double value) : Rounded(Interval(value), 0) {}
  /// A scalar of the recipe, converted to the tensors' precision.
  template <int Q>
  requires(Q > P) explicit Rounded(const Rounded<Q>& wide) : Rounded(wide.exact(), wide.error()) {}
  /// `exact` computed with `error` before one rounding to P bits.
  Rounded(Interval exact, double error) : exact_(std::move(exact)), error_(error) { round(1); }

  [[nodiscard]] const Interval& exact() const { return exact_; }
  [[nodiscard]] double error() const { return error_; }
  /// Upper bound of the exact magnitude.
  [[nodiscard]] double magnitude() const {
    return inflate(std::max(std::fabs(lower(exact_).template convert_to<double>()),
                            std::fabs(upper(exact_).template convert_to<double>())));
  }
  [[nodiscard]] double least_magnitude() const {
    const double low = lower(exact_).template convert_to<double>();
    const double high = upper(exact_).template convert_to<double>();
    return low > 0 ? low * (1 - 0x1p-40) : high < 0 ? -high * (1 - 0x1p-40) : 0;
  }
  [[nodiscard]] bool is_exactly(int value) const {
    return error_ == 0 && lower(exact_) == value && upper(exact_) == value;
  }

  friend Rounded operator+(const Rounded& a, const Rounded& b) {
    if (a.is_exactly(0)) return b;
    if (b.is_exactly(0)) return a;
    return Rounded(a.exact_ + b.exact_, a.error_ + b.error_);
  }
  friend Rounded operator-(const Rounded& a, const Rounded& b) {
    if (b.is_exactly(0)) return a;
    return Rounded(a.exact_ - b.exact_, a.error_ + b.error_);
  }
  friend Rounded operator*(const Rounded& a, const Rounded& b) {
    if (a.is_exactly(1)) return b;
    if (b.is_exactly(1)) return a;
    return Rounded(a.exact_ * b.exact_, a.magnitude() * b.error_ + (b.magnitude() + b.error_) * a.error_);
  }
  /// |(a+x)/(b+y) - a/b| <= (|x| + |a/b| |y|) / (|b| - |y|).
  friend Rounded operator/(const Rounded& a, const Rounded& b) {
    if (b.is_exactly(1)) return a;
    const double room = b.least_magnitude() - b.error_;
    if (!(room > 0)) return Rounded(Interval(0), std::numeric_limits<double>::infinity());
    Rounded result(a.exact_ / b.exact_, 0, Unrounded{});
    result.error_ = inflate((a.error_ + result.magnitude() * b.error_) / room);
    result.round(1);
    return result;
  }
  /// a > 0. With |x| <= alpha a and |y| <= e: |(a+x)^(b+y) / a^b - 1| <= expm1((|b|+e) |log1p(-alpha)| + e
  /// |ln a|).
  friend Rounded pow(const Rounded& a, const Rounded& b) {
    if (b.is_exactly(0)) return Rounded(1);
    Rounded result(pow(a.exact_, b.exact_), 0, Unrounded{});
    const double alpha = a.error_ / a.least_magnitude();
    if (!(alpha < 1)) return Rounded(Interval(0), std::numeric_limits<double>::infinity());
    const double ln_a =
        std::max(std::fabs(std::log(a.magnitude())), std::fabs(std::log(a.least_magnitude())));
    const double shift = (b.magnitude() + b.error_) * -std::log1p(-alpha) + b.error_ * inflate(ln_a);
    result.error_ = inflate(result.magnitude() * std::expm1(inflate(shift)));
    result.round(2);
    return result;
  }
  /// |exp(a+x)/exp(a) - 1| <= expm1(|x|).
  friend Rounded exp(const Rounded& a) {
    if (a.is_exactly(0)) return Rounded(1);
    Rounded result(exp(a.exact_), 0, Unrounded{});
    result.error_ = inflate(result.magnitude() * inflate(std::expm1(a.error_)));
    result.round(2);
    return result;
  }
  friend Rounded log(const Rounded& a) {
    const double alpha = a.error_ / a.least_magnitude();
    if (!(alpha < 1)) return Rounded(Interval(0), std::numeric_limits<double>::infinity());
    Rounded result(log(a.exact_), inflate(-std::log1p(-alpha)), Unrounded{});
    result.round(2);
    return result;
  }
  /// a 2^exponent.
  friend Rounded ldexp(const Rounded& a, int exponent) {
    return Rounded(ldexp(a.exact_, exponent), std::ldexp(a.error_, exponent));
  }
  /// |sqrt(a+x) - sqrt(a)| <= |x| / sqrt(a).
  friend Rounded sqrt(const Rounded& a) {
    Rounded result(sqrt(a.exact_), 0, Unrounded{});
    result.error_ = a.error_ == 0 ? 0 : inflate(a.error_ / result.least_magnitude());
    result.round(1);
    return result;
  }

 private:
  struct Unrounded {};
  Rounded(Interval exact, double error, Unrounded) : exact_(std::move(exact)), error_(error) {}

  static double inflate(double value) { return value * (1 + 0x1p-40); }

  /// Adds `units` unit roundoffs of the value, unless it is exact and representable.
  void round(int units) {
    const Mpfr low = lower(exact_);
    const bool point = error_ == 0 && low == upper(exact_);
    if (point && low == Mpfr(narrow_to_format(low.template convert_to<double>()))) return;
    const double size = magnitude() + error_;
    error_ = size > kLargest ? std::numeric_limits<double>::infinity()
                             : inflate(error_ + units * (kUnit * size + kHalfSubnormal));
  }
  static double narrow_to_format(double value) {
    if (P == 53) return value;
    return std::fabs(value) > kLargest ? std::numeric_limits<double>::quiet_NaN()
                                       : double{static_cast<float>(value)};
  }

  Interval exact_;
  double error_;
};

template <>
struct ScalarOf<Rounded<24>> {
  using type = Rounded<53>;
};
template <>
[[nodiscard]] inline Rounded<24> pi<Rounded<24>>() {
  return Rounded<24>(pi<Interval>(), 0);
}
template <>
[[nodiscard]] inline Rounded<53> pi<Rounded<53>>() {
  return Rounded<53>(pi<Interval>(), 0);
}

}  // namespace sextant
