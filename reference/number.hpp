// The number types truth is computed with: MPFR at any precision, MPFI intervals, and Boost's own
// cpp_bin_float.
#pragma once
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/mpfi.hpp>
#include <boost/multiprecision/mpfr.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "sextant/reference/error.hpp"

namespace sextant {

namespace mp = boost::multiprecision;

/// Expression templates are off, so that `auto` and templates over Real are safe.
using Mpfr = mp::number<mp::mpfr_float_backend<0>, mp::et_off>;
using Interval = mp::number<mp::mpfi_float_backend<0>, mp::et_off>;
using Bin100 = mp::number<mp::cpp_bin_float<100>, mp::et_off>;

/// Sets the working precision of Mpfr and Interval in this thread, in decimal digits, for a scope.
class WorkingDigits {
 public:
  explicit WorkingDigits(unsigned digits)
      : mpfr_(Mpfr::thread_default_precision()), interval_(Interval::thread_default_precision()) {
    Mpfr::thread_default_precision(digits);
    Interval::thread_default_precision(digits);
  }
  ~WorkingDigits() {
    Mpfr::thread_default_precision(mpfr_);
    Interval::thread_default_precision(interval_);
  }
  WorkingDigits(const WorkingDigits&) = delete;
  WorkingDigits& operator=(const WorkingDigits&) = delete;

 private:
  unsigned mpfr_, interval_;
};

/// The type in which upstream computes the scalars of a recipe: Python doubles beside float32 tensors,
/// and Real itself everywhere else.
template <class Real>
struct ScalarOf {
  using type = Real;
};
template <>
struct ScalarOf<float> {
  using type = double;
};
template <class Real>
using Scalar = typename ScalarOf<Real>::type;

template <class Real>
[[nodiscard]] Real pi() {
  return std::numbers::pi_v<Real>;
}
template <>
[[nodiscard]] inline Mpfr pi<Mpfr>() {
  Mpfr value;
  mpfr_const_pi(value.backend().data(), MPFR_RNDN);
  return value;
}
template <>
[[nodiscard]] inline Interval pi<Interval>() {
  Interval value;
  mpfi_const_pi(value.backend().data());
  return value;
}
template <>
[[nodiscard]] inline Bin100 pi<Bin100>() {
  return boost::math::constants::pi<Bin100>();
}

}  // namespace sextant
