// Bounds per element, derived from what a contract promises of each stage.
//
// Notation: u = 2^-24, h = 2^-150 (half the least float32 subnormal), theta = m w exact, c = cos theta, s =
// sin theta, A the attention factor, (x_a, x_b) the input pair, (y_a, y_b) = A R(theta) x exact; a tilde
// marks what a kernel has.
//
// Frequency. exact: w~ = w. f32: |w~ - w| <= e_w, the bound that Rounded<24> derives from the scheme's own
// definition
//   (reference/rounded.hpp): every rounding of the recipe, the blends of YaRN and Llama 3 and the run-time
//   base of dynamic NTK included, with pow and log within one ulp.
// Angle. exact: theta~ = theta. f32: m~ = m (1 + r_m), r_m = 0 for |m| <= 2^24, |r_m| <= u beyond;
//   theta~ = m~ w~ (1 + r), |r| <= u, + h for a subnormal product, r = 0 where the product needs no rounding:
//   w~ = 1. So |theta~ - theta| <= d = |m| e_w + rho, rho = |m| (w + e_w) ((1 + r_m)(1 + r) - 1) + h.
// Trig. |c~ - cos theta~| <= tau = k u for trig = k ulp: one ulp of a value below 1 is at most u.
// Table. C~ = fl(A~ c~), A~ = A (1 + a), |a| <= e_A / A, one rounding more where A is not 1:
//   |C~ - A cos theta~| <= A (tau + eta (|cos theta~| + tau)), eta = (1 + e_A/A)(1 + u) - 1, eta = 0 for A =
//   1; |cos theta~| <= min(1, |c| + d). This is PairBound::cos, and likewise ::sin. Entry: A |cos theta~ -
//   cos theta| <= A (|s| d + |c| d^2/2), and never above 2A.
// Rotation. y~_a = fl(fl(x_a C~) - fl(x_b S~)); FMA forms leave out one rounding and are covered.
//   With y^ = A R(theta~) x: |y~_a - y^_a| (1 + u)^-1 <= |x_a| C_e + |x_b| S_e + u (|x_a| |C~| + |x_b| |S~|)
//   + 2h =: D, plus u |y^_a|; |y^_a - y_a| <= |y_b| d + |y_a| d^2/2, the rotation of y by less than d, and
//   never above 2 A |x|. So |y~_a - y_a| <= (D + turn)(1 + u) + u |y_a|.
// Sharpness is tested in contract_test.cpp: the worst seen is above a quarter of each bound.
#include "sextant/props/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/reference/error.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/rounded.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kHalfSubnormal = 0x1p-150;
constexpr double kInflate = 1 + 0x1p-40;

/// 1 - cos d <= d^2/2, and no rotation moves a vector by more than twice its length.
double turned(double along, double across, double angle, double length) {
  return std::min(across * angle + along * angle * angle / 2, 2 * length);
}

}  // namespace

std::string Contract::title() const {
  return fmt::format(
      "contract(frequency={},angle={},trig={}ulp,table=none,arithmetic=f32,output=f32,denormals=keep,bits={}"
      ")",
      frequency == Frequency::exact ? "exact" : "f32", angle == Angle::exact ? "exact" : "f32", trig_ulp,
      bits_exact ? "exact" : "bound");
}

const std::vector<Contract>& contracts() {
  static const std::vector<Contract> known = {
      {"exact-angle", Contract::Frequency::exact, Contract::Angle::exact, 1, false},
      {"f32-angle", Contract::Frequency::f32, Contract::Angle::f32, 1, false},
  };
  return known;
}

Contract parse_contract(std::string_view name) {
  constexpr std::string_view kBits = "+bits";
  if (name.ends_with(kBits)) {
    Contract contract = parse_contract(name.substr(0, name.size() - kBits.size()));
    contract.bits_exact = true;
    return contract;
  }
  for (const Contract& contract : contracts()) {
    if (contract.name == name) return contract;
  }
  std::string known;
  for (const Contract& contract : contracts())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", contract.name);
  throw InputError(fmt::format("unknown contract \"{}\": known are {}", name.substr(0, 80), known));
}

Bounds::Bounds(const Contract& contract, const Rope& rope, std::int64_t seq_len) : contract_(contract) {
  const ExactFrequencies exact = exact_frequencies(rope, seq_len);
  factor_ = exact.attention_factor.value();
  for (const Wide& w : exact.inv_freq) inv_freq_.push_back(w.value());
  const Frequencies<Rounded<24>> bounded = sextant::frequencies<Rounded<24>>(rope, seq_len);
  for (const Rounded<24>& w : bounded.inv_freq) {
    frequency_.push_back(contract.frequency == Contract::Frequency::exact ? 0 : w.error());
  }
  factor_error_ = bounded.attention_factor.error();
  const bool is_one = bounded.attention_factor.is_exactly(1);
  factor_relative_ = is_one ? 0 : (1 + factor_error_ / factor_) * (1 + kUnit) - 1;
}

PairBound Bounds::pair(std::int64_t pair, std::int64_t position, double cos, double sin) const {
  const auto i = static_cast<std::size_t>(pair);
  const double distance = std::fabs(static_cast<double>(position));
  PairBound bound{};
  if (!std::isfinite(frequency_[i])) {
    // The float32 recipe overflows: whatever it makes of infinity, at position 0 too, nothing is claimed.
    constexpr double kNothing = std::numeric_limits<double>::infinity();
    return {kNothing, kNothing, kNothing, kNothing};
  }
  if (contract_.angle == Contract::Angle::f32 && position != 0 && inv_freq_[i] != 0) {
    const double position_rounding = distance > 0x1p24 ? kUnit : 0;
    const double product_rounding = inv_freq_[i] == 1 && frequency_[i] == 0 ? 0 : kUnit;
    bound.angle_round =
        distance * (inv_freq_[i] + frequency_[i]) * ((1 + position_rounding) * (1 + product_rounding) - 1) +
        (product_rounding > 0 ? kHalfSubnormal : 0);
  }
  bound.angle = distance * frequency_[i] + bound.angle_round;
  const double tau = contract_.trig_ulp * kUnit;
  const auto entry = [&](double bare) {
    return factor_ * (tau + factor_relative_ * (std::min(1.0, std::fabs(bare) + bound.angle) + tau));
  };
  bound.cos = entry(cos / factor_);
  bound.sin = entry(sin / factor_);
  return bound;
}

double Bounds::frequency_output(std::int64_t pair) const {
  if (contract_.frequency == Contract::Frequency::f32) return frequency(pair) * kInflate;
  const double w = inv_freq_[static_cast<std::size_t>(pair)];
  return w == 0 ? 0 : (kUnit * w + kHalfSubnormal) * kInflate;
}

ElementBound Bounds::table_entry(const PairBound& at, double entry, double value, double partner) const {
  const double absolute =
      (turned(std::fabs(value), std::fabs(partner), at.angle, factor_) + entry) * kInflate;
  return {absolute, absolute < kNoClaim * factor_};
}

double Bounds::rotation(const PairBound& at, double x_a, double x_b, double cos, double sin) const {
  const double a = std::fabs(x_a);
  const double b = std::fabs(x_b);
  const double c = std::min(factor_, std::fabs(cos) + factor_ * at.angle) + at.cos;
  const double s = std::min(factor_, std::fabs(sin) + factor_ * at.angle) + at.sin;
  return (a * at.cos + b * at.sin + kUnit * (a * c + b * s) + 2 * kHalfSubnormal) * kInflate;
}

ElementBound Bounds::rotated(const PairBound& at, double rotation, double value, double partner,
                             double norm) const {
  const double turn = turned(std::fabs(value), std::fabs(partner), at.angle, norm);
  const double absolute = ((rotation + turn) * (1 + kUnit) + kUnit * std::fabs(value)) * kInflate;
  return {absolute, std::isfinite(absolute) && (absolute < kNoClaim * norm || norm == 0)};
}

// Attention. With g_n = n u / (1 - n u): fl(<q,k>) errs by g_D sum |q_c k_c| (Higham, Accuracy and Stability
// 2nd ed., (3.5)), the product with the rounded scale by (1+u)^2 more, subnormal products by D h:
// logit_bound. Weights: p~_j = e^(l~_j - l~_max (1+r)) (1 + 2u) / sum~; the shift by l~_max cancels but for
// its rounding |r| <= u relative to |l~_j - l~_max|, which matters only while e^(l_j - l_max) is not
// negligible: x e^-x <= 1/e, so that an error u x in the exponent of e^-x moves it by at most u/e relative to
// the largest weight, and is bounded by treating x as at most 104 (below which e^-x underflows float32): u *
// 104 in the exponent, absolutely. With D the worst logit error: every unnormalised weight is right to the
// factor e^(+-(D + 104 u)) (1 + 2u) and 2h; numerator and sum share the bound, the sum adds g_n, the division
// u, the products and the accumulation g_(n+1): |out~ - out| <= sum_j p_j |v_j| relative + absolute_per_value
// sum_j |v_j|, relative = e^(2 (D + 104 u)) (1+2u)/(1-2u) (1 + g_n)/(1 - g_n) (1+u)(1 + g_(n+1)) - 1.
AttentionBound attention_bound(std::int64_t keys, double worst_logit_error) {
  const double n = static_cast<double>(keys);
  const auto gamma = [](double k) { return k * kUnit / (1 - k * kUnit); };
  const double exponent = 2 * (worst_logit_error + 104 * kUnit);
  const double factor = std::exp(exponent) * (1 + 2 * kUnit) / (1 - 2 * kUnit) * (1 + gamma(n)) /
                        (1 - gamma(n)) * (1 + kUnit) * (1 + gamma(n + 1));
  return {(factor - 1) * kInflate, 8 * kHalfSubnormal};
}

double logit_bound(std::int64_t channels, double scale, double sum_of_magnitudes) {
  const double d = static_cast<double>(channels);
  const double gamma = (d + 2) * kUnit / (1 - (d + 2) * kUnit);
  return (gamma * std::fabs(scale) * sum_of_magnitudes + (std::fabs(scale) * d + 1) * 2 * kHalfSubnormal) *
         kInflate;
}

}  // namespace sextant
