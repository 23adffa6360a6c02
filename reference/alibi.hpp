// ALiBi (Press et al. 2022): slopes and biases over any number type.
//
// With c = 2^floor(log2 H) and B = bias_max, head j = 1..c has the slope 2^(-B j/c), and the H - c heads that
// follow, k = 0, 1, .., have 2^(-B (2k+1)/(2c)). B is a double and the denominators are powers of two, so the
// exponents are exact; a slope is a power of two where its exponent is whole, and irrational elsewhere.
//
// The recipes of the stacks all mean this. They differ in what they round: HuggingFace's BLOOM, Falcon and
// vLLM raise a rounded base (build_alibi_tensor); MPT raises 2 to rounded exponents and puts the even ones
// first (build_mpt_alibi_tensor); ggml raises one of two bases (ggml-cpu/ops.cpp, soft_max); the paper's own
// code recurs to the next power of two.
#pragma once
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/number.hpp"

namespace sextant {

/// The slope of a head is 2^(-bias_max numerator/denominator), the denominator a power of two.
struct SlopeExponent {
  std::int64_t numerator, denominator;
};
/// Of a head counted from 0.
[[nodiscard]] constexpr SlopeExponent slope_exponent(std::int64_t heads, std::int64_t head) {
  const auto c = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  return head < c ? SlopeExponent{head + 1, c} : SlopeExponent{2 * (head - c) + 1, 2 * c};
}
/// bias_max numerator/denominator where that is a whole number.
[[nodiscard]] std::optional<int> whole_exponent(double bias_max, const SlopeExponent& exponent);

/// 2^(-bias_max numerator/denominator), exact where the exponent is whole.
template <class Real>
[[nodiscard]] Real slope_power(double bias_max, const SlopeExponent& exponent) {
  using std::ldexp;
  using std::pow;
  if (const std::optional<int> whole = whole_exponent(bias_max, exponent)) return ldexp(Real(1), -*whole);
  return pow(Real(2), Real(Real(-bias_max) * Real(exponent.numerator) / Real(exponent.denominator)));
}

/// The slope of a head by its definition. Over Interval with 40 digits or more nothing but the power is
/// rounded.
template <class Real>
[[nodiscard]] Real slope(const Alibi& alibi, std::int64_t head) {
  return slope_power<Real>(alibi.bias_max, slope_exponent(alibi.heads, head));
}

/// BLOOM's recipe: one base for the first c heads, one for the rest, each a Python double rounded to the
/// tensors' precision, then raised. A power of a power of two is exact.
template <class Real>
[[nodiscard]] std::vector<Real> bloom_slopes(const Alibi& alibi) {
  using std::pow;
  std::vector<Real> all;
  for (std::int64_t h = 0; h < alibi.heads; ++h) {
    const auto [power, denominator] = slope_exponent(alibi.heads, h);
    const SlopeExponent one{1, denominator};
    const auto base = static_cast<Real>(slope_power<Scalar<Real>>(alibi.bias_max, one));
    all.push_back(whole_exponent(alibi.bias_max, one) ? slope<Real>(alibi, h) : Real(pow(base, Real(power))));
  }
  return all;
}

/// ggml's: as BLOOM's, with bases that are powers in the tensors' own precision.
template <class Real>
[[nodiscard]] std::vector<Real> ggml_slopes(const Alibi& alibi) {
  using std::pow;
  const std::int64_t n = slope_exponent(alibi.heads, 0).denominator;
  const Real m0(slope_power<Real>(alibi.bias_max, {1, n}));
  const Real m1(slope_power<Real>(alibi.bias_max, {1, 2 * n}));
  std::vector<Real> all;
  for (std::int64_t h = 0; h < alibi.heads; ++h)
    all.push_back(h < n ? Real(pow(m0, Real(h + 1))) : Real(pow(m1, Real(2 * (h - n) + 1))));
  return all;
}

/// MPT's: 1 / 2^m_j, m_j = j (B/N) with N = 2^ceil(log2 H), then, unless N = H, the even j before the odd
/// ones.
template <class Real>
[[nodiscard]] std::vector<Real> mpt_slopes(const Alibi& alibi) {
  using std::pow;
  const std::int64_t c = slope_exponent(alibi.heads, 0).denominator;
  const std::int64_t n = c == alibi.heads ? c : 2 * c;
  const auto step = static_cast<Real>(Scalar<Real>(alibi.bias_max) / Scalar<Real>(n));
  std::vector<Real> in_order, all;
  for (std::int64_t j = 1; j <= n; ++j)
    in_order.push_back(Real(1) / Real(pow(Real(2), Real(Real(j) * step))));
  if (n == alibi.heads) return in_order;
  for (std::size_t j = 1; j < in_order.size(); j += 2) all.push_back(in_order[j]);
  for (std::size_t j = 0; j < in_order.size(); j += 2) all.push_back(in_order[j]);
  all.erase(all.begin() + alibi.heads, all.end());
  return all;
}

/// The paper's: start, start^2, .. for a power of two; else those of c heads, then every second one of 2c.
template <class Real>
[[nodiscard]] std::vector<Real> paper_slopes(const Alibi& alibi) {
  using std::pow;
  const std::int64_t c = slope_exponent(alibi.heads, 0).denominator;
  std::vector<Real> all;
  if (c == alibi.heads) {
    const Real start(pow(Real(2), Real(Real(-alibi.bias_max) / Real(c))));
    for (std::int64_t i = 0; i < c; ++i) all.push_back(Real(start * Real(pow(start, Real(i)))));
    return all;
  }
  Alibi part = alibi;
  part.heads = c;
  all = paper_slopes<Real>(part);
  part.heads = 2 * c;
  const std::vector<Real> next = paper_slopes<Real>(part);
  for (std::size_t i = 0; all.size() < static_cast<std::size_t>(alibi.heads); i += 2) all.push_back(next[i]);
  return all;
}

/// The whole number by which a form multiplies the slope, last being the position of the call's last key; of
/// form sqrt it stands, negated, under the root.
[[nodiscard]] constexpr std::int64_t multiplier(Alibi::Form form, std::int64_t query, std::int64_t key,
                                                std::int64_t last) {
  switch (form) {
    case Alibi::Form::relative:
      return key - query;
    case Alibi::Form::symmetric:
      return key < query ? key - query : query - key;
    case Alibi::Form::key:
    case Alibi::Form::falcon:
      return key;
    case Alibi::Form::last_key:
      return key - last;
    case Alibi::Form::sqrt:
      break;
  }
  return key < query ? key - query : 0;
}

/// The bias of a (query, key) pair from its head's slope and multiplier.
template <class Real>
[[nodiscard]] Real bias(const Alibi& alibi, const Real& slope, std::int64_t multiplier) {
  using std::sqrt;
  if (alibi.form == Alibi::Form::sqrt) return slope * -Real(sqrt(Real(-multiplier)));
  const Real product = slope * Real(multiplier);
  return alibi.form == Alibi::Form::falcon ? Real(product / Real(sqrt(Real(alibi.head_dim)))) : product;
}

/// slope() as decimals with `digits` significant digits, and rounded to nearest even in a format; both proved
/// by enclosures.
[[nodiscard]] std::string printed_slope(const Alibi& alibi, std::int64_t head, unsigned digits);
[[nodiscard]] double nearest_slope(const Alibi& alibi, std::int64_t head, const Format& format);

}  // namespace sextant
