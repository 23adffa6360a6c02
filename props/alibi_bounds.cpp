// Bounds per bias, derived from what a contract promises of each stage.
//
// Notation: m the exact slope, n the multiplier, y the exact bias; a, v, t = 2^-p for the formats of
// arithmetic, output and table; h with an index: half the least subnormal; a tilde marks what a kernel has.
//
// Slope. exact: within half an ulp of float32. f32: BLOOM's recipe, its bound from Rounded<24>
//   (reference/alibi.hpp); f32_running: ggml's. approx: exp2 of the exponent x, which is rounded to float32
//   twice, exp2 within eps = 2^-22: relative exp(ln 2 |x| ((1 + u)^2 - 1)) (1 + eps) - 1. A table of 16 bits,
//   stored or because the arithmetic has no more, adds t (m + that) + h_t. Together |m~ - m| <= e.
// Multiplier. n~ = n (1 + r): r = 0 where the format of arithmetic holds n, and where a contract of exact
//   angles computes in 32 bits or more; else |r| <= a. Of form sqrt, g~ = sqrt(n~) rounded, else g~ = n~:
//   g~ = g (1 + r'), (1 + r') <= (1 + r)(1 + a) for sqrt, the root of a square being exact.
// Product. |m~ g~ - m g| <= d = g (1 + r') e + m g r', then its rounding.
// Falcon divides by sqrt(D) (1 + q), |q| <= a: (d / sqrt(D) + |y| a) / (1 - a), then the quotient's rounding.
//   Multiplying slopes by 1/sqrt(D) first, as vLLM does, rounds as often. Where sqrt(D) is a power of two,
//   nothing is rounded but a subnormal quotient.
// Rounding to a format: e + max(a (|y| + e), h_a), and 0 where e is 0 and the format holds y: there nothing
//   is rounded. Last, to the output's format, where that does not hold the arithmetic's.
// Flushing. The slope, and the product, may each lose up to the least normal number.
// Sharpness is tested in alibi_slopes_test.cpp: the worst seen is above a quarter of each bound.
#include "sextant/props/alibi_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sextant/reference/alibi.hpp"
#include "sextant/reference/rounded.hpp"

namespace sextant {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kApproxPower = 0x1p-22;
constexpr double kInflate = 1 + 0x1p-40;

Wide to_wide(const Mpfr& value) {
  const auto high = value.convert_to<double>();
  return {high, Mpfr(value - high).convert_to<double>()};
}

bool is_square(std::int64_t n) {
  const auto root = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
  return root * root == n;
}

bool holds(const Format& format, const Wide& value) {
  return value.lo == 0 && round_to(value.hi, format) == value.hi;
}

bool holds(const Format& outer, const Format& inner) {
  return outer.precision >= inner.precision && outer.largest >= inner.largest &&
         outer.least_subnormal() <= inner.least_subnormal();
}

/// `error` of a value after one rounding to a format.
double rounded(double error, const Wide& value, const Format& format) {
  if (error == 0 && holds(format, value)) return 0;
  return error +
         std::max(format.unit_roundoff() * (std::fabs(value.value()) + error), format.least_subnormal() / 2);
}

/// What slopes are stored in beyond float32, or nothing.
const Format* table_of(const Contract& contract) {
  using C = Contract;
  if (contract.table == C::Table::bf16 || contract.arithmetic == C::Arithmetic::bf16) return &kBFloat16;
  if (contract.table == C::Table::f16 || contract.arithmetic == C::Arithmetic::f16) return &kFloat16;
  return nullptr;
}

const Format& arithmetic_of(const Contract& contract) {
  using A = Contract::Arithmetic;
  if (contract.arithmetic == A::f64) return kFloat64;
  if (contract.arithmetic == A::bf16) return kBFloat16;
  return contract.arithmetic == A::f16 ? kFloat16 : kFloat32;
}

/// |m~ - m| of each head before a table.
std::vector<double> recipe_errors(const Contract& contract, const Alibi& alibi,
                                  const std::vector<Wide>& slopes) {
  using F = Contract::Frequency;
  std::vector<double> errors;
  const auto take = [&](const std::vector<Rounded<24>>& recipe) {
    for (const Rounded<24>& slope : recipe) errors.push_back(slope.error());
  };
  if (contract.frequency == F::f32) take(bloom_slopes<Rounded<24>>(alibi));
  if (contract.frequency == F::f32_running) take(ggml_slopes<Rounded<24>>(alibi));
  for (const Wide& slope : slopes) {
    if (errors.size() == slopes.size()) break;
    const double m = slope.value(), half_ulp = ulp_of(m, kFloat32) / 2;
    const double twice_rounded = (1 + kUnit) * (1 + kUnit) - 1;
    const double exponent = m > 0 ? -std::log2(m) : std::numeric_limits<double>::infinity();
    if (contract.frequency == F::exact)
      errors.push_back(holds(kFloat32, slope) ? 0 : half_ulp);
    else
      errors.push_back(m * (std::exp(std::numbers::ln2 * exponent * twice_rounded) * (1 + kApproxPower) - 1) +
                       half_ulp);
  }
  return errors;
}

}  // namespace

AlibiBounds::AlibiBounds(const Contract& contract, const Alibi& alibi)
    : contract_(contract),
      alibi_(alibi),
      arithmetic_(&arithmetic_of(contract)),
      output_(&format_of(contract.output)) {
  const WorkingDigits digits(67);
  for (std::int64_t h = 0; h < alibi.heads; ++h) slope_.push_back(to_wide(slope<Mpfr>(alibi, h)));
  if (alibi.form == Alibi::Form::falcon) inverse_root_ = to_wide(1 / sqrt(Mpfr(alibi.head_dim)));
  slope_error_ = recipe_errors(contract, alibi, slope_);
  const Format* table = table_of(contract);
  for (std::size_t h = 0; h < slope_.size(); ++h) {
    double& error = slope_error_[h];
    if (table) error = rounded(error, slope_[h], *table);
    if (contract.flushes) error += power_of_two(kFloat32.emin);
    error *= kInflate;
  }
}

Wide AlibiBounds::bias(std::int64_t head, std::int64_t multiplier) const {
  const Wide& slope = slope_[static_cast<std::size_t>(head)];
  const auto n = static_cast<double>(multiplier);
  if (alibi_.form != Alibi::Form::sqrt) return slope * Wide(n) * inverse_root_;
  // A Newton step beyond the double's root.
  const double root = std::sqrt(-n);
  const double rest = root > 0 ? (Wide(-n) - two_product(root, root)).value() / (2 * root) : 0;
  return -(slope * fast_two_sum(root, rest));
}

double AlibiBounds::before_output(std::int64_t head, std::int64_t multiplier, const Wide& bias) const {
  const double a = arithmetic_->unit_roundoff(), n = std::fabs(static_cast<double>(multiplier));
  if (multiplier == 0) return 0;
  if (n > arithmetic_->largest / 2) return std::numeric_limits<double>::infinity();
  const bool wide = arithmetic_->precision >= kFloat32.precision;
  const bool kept = round_to(n, *arithmetic_) == n || (wide && contract_.angle == Contract::Angle::exact);
  double r = kept ? 0 : a;
  double g = n;
  if (alibi_.form == Alibi::Form::sqrt) {
    g = std::sqrt(n);
    if (!kept || !is_square(-multiplier)) r = (1 + r) * (1 + a) - 1;
  }
  const double e = slope_error(head), m = slope_[static_cast<std::size_t>(head)].value();
  const Wide product = alibi_.form == Alibi::Form::falcon
                           ? slope_[static_cast<std::size_t>(head)] * Wide(static_cast<double>(multiplier))
                           : bias;
  double error = rounded(g * (1 + r) * e + m * g * r, product, *arithmetic_);
  if (contract_.flushes) error += power_of_two(kFloat32.emin);
  if (alibi_.form == Alibi::Form::falcon) {
    const double y = std::fabs(bias.value());
    int exponent = 0;
    if (inverse_root_.lo == 0 && std::frexp(inverse_root_.hi, &exponent) == 0.5) {
      error *= inverse_root_.hi;
      if (y < power_of_two(arithmetic_->emin)) error += arithmetic_->least_subnormal() / 2;
    } else {
      error = rounded((error * inverse_root_.value() + y * a) / (1 - a), bias, *arithmetic_);
    }
  }
  return error * kInflate;
}

double AlibiBounds::after_output(double before, const Wide& bias) const {
  return holds(*output_, *arithmetic_) ? before : rounded(before, bias, *output_) * kInflate;
}

}  // namespace sextant
