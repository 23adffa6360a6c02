// Rotary position embedding as mathematics: frequencies, attention factor, rotation, over any number type.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/reference/encoding.hpp"

namespace sextant {

template <class Real>
struct Frequencies {
  std::vector<Real> inv_freq;  ///< [pairs], radians per position
  Real attention_factor;       ///< multiplies both cos and sin
};

/// Frequencies of `rope` at current length `seq_len` (only dynamic and longrope look at it).
/// Instantiated in rope.cpp for Mpfr, Interval, Bin100, Rounded<24> (number.hpp, rounded.hpp), double and
/// float. The float instantiation is the textbook recipe: float32 tensors, Python-double scalars, libm. Every
/// floor, ceiling and comparison inside is decided on intervals, whatever Real is.
template <class Real>
[[nodiscard]] Frequencies<Real> frequencies(const Rope& rope, std::int64_t seq_len);

/// Shape of a cos/sin table: half [S,n]; duplicated [S,d] (n then n); repeated [S,d] (each twice);
/// half_half [S,d] (cos then sin in one row); polar [S,n,2]. The last two hold both functions in one tensor.
enum class TableForm { half, duplicated, repeated, half_half, polar };
[[nodiscard]] std::string_view to_string(TableForm form);

/// Where a row of a table in `form` with `pairs` pairs holds cos and sin of pair i: element offsets in the
/// cos tensor and in the sin tensor (the same tensor for half_half and polar). `copies` entries lie
/// `copy_step` apart.
struct TableSlots {
  std::int64_t cos, sin;
  std::int64_t copies, copy_step;
};
[[nodiscard]] constexpr TableSlots table_slots(TableForm form, std::int64_t pairs, std::int64_t pair) {
  switch (form) {
    case TableForm::half:
      return {pair, pair, 1, 0};
    case TableForm::duplicated:
      return {pair, pair, 2, pairs};
    case TableForm::repeated:
      return {2 * pair, 2 * pair, 2, 1};
    case TableForm::half_half:
      return {pair, pair + pairs, 1, 0};
    case TableForm::polar:
      return {2 * pair, 2 * pair + 1, 1, 0};
  }
  return {};
}
[[nodiscard]] constexpr bool holds_both(TableForm form) {
  return form == TableForm::half_half || form == TableForm::polar;
}
/// Elements in a row of the cos tensor.
[[nodiscard]] constexpr std::int64_t row_width(TableForm form, std::int64_t pairs) {
  return form == TableForm::half ? pairs : 2 * pairs;
}

/// A cos(m w_i) and A sin(m w_i) of one row of a table in `form`; sin is empty where the form holds both in
/// one.
template <class Real>
struct TableRow {
  std::vector<Real> cos, sin;
};
template <class Real>
[[nodiscard]] TableRow<Real> table_row(const Frequencies<Real>& frequencies, std::int64_t position,
                                       TableForm form);

/// The rotation of one head [head_dim] at `position`: channels past the rotary width are copied.
template <class Real>
[[nodiscard]] std::vector<Real> rotate(const Rope& rope, const Frequencies<Real>& frequencies,
                                       std::int64_t position, const std::vector<Real>& x);

/// y_a = x_a c - x_b s, y_b = x_b c + x_a s: the rotation of one pair by the angle whose (scaled) cos and sin
/// are given.
template <class Real>
struct Pair {
  Real a, b;
};
template <class Real>
[[nodiscard]] Pair<Real> rotate_pair(const Real& x_a, const Real& x_b, const Real& c, const Real& s) {
  return {x_a * c - x_b * s, x_b * c + x_a * s};
}

}  // namespace sextant
