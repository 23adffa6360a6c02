// Sinusoidal embeddings as mathematics: what every column of a row is, its frequencies, the row itself, over
// any number type (Vaswani et al. 2017, section 3.5; layouts as HuggingFace's models have them).
#pragma once
#include <cstdint>
#include <vector>

#include "sextant/reference/encoding.hpp"

namespace sextant {

using SinusoidLayout = Sinusoidal::Layout;

[[nodiscard]] constexpr bool has_two_axes(SinusoidLayout layout) {
  return layout == SinusoidLayout::G || layout == SinusoidLayout::H;
}

/// A row holds pairs: pair k is sin(x w_k) and cos(x w_k), x the coordinate on the pair's axis. At the end of
/// an odd width stands a sine alone; where it is a zero column, it is the sine of the frequency 0.
[[nodiscard]] constexpr std::int64_t sinusoid_pairs(const Sinusoidal& scheme) { return (scheme.dim + 1) / 2; }
[[nodiscard]] constexpr std::int64_t pairs_per_axis(const Sinusoidal& scheme) {
  return has_two_axes(scheme.layout) ? scheme.dim / 4 : sinusoid_pairs(scheme);
}
/// Pairs [0, whole_pairs) have a cosine.
[[nodiscard]] constexpr std::int64_t whole_pairs(const Sinusoidal& scheme) { return scheme.dim / 2; }

/// The last pair of an odd width in layouts A, A' and F is a zero column.
[[nodiscard]] constexpr std::int64_t zero_columns(const Sinusoidal& scheme) {
  const bool pads = scheme.layout == SinusoidLayout::A || scheme.layout == SinusoidLayout::A_cos ||
                    scheme.layout == SinusoidLayout::F;
  return pads ? scheme.dim % 2 : 0;
}

/// 0 for the row of a grid, and where there is one axis; 1 for the column.
[[nodiscard]] constexpr int axis_of(const Sinusoidal& scheme, std::int64_t pair) {
  return pair < pairs_per_axis(scheme) ? 0 : 1;
}

/// The columns of a pair; cosine is -1 where it has none.
struct SinusoidColumns {
  std::int64_t sine, cosine;
};
[[nodiscard]] constexpr SinusoidColumns sinusoid_columns(const Sinusoidal& scheme, std::int64_t pair) {
  const bool whole = pair < whole_pairs(scheme);
  const std::int64_t half = scheme.dim / 2;
  switch (scheme.layout) {
    case SinusoidLayout::A:
    case SinusoidLayout::F:
      return whole ? SinusoidColumns{pair, half + pair} : SinusoidColumns{scheme.dim - 1, -1};
    case SinusoidLayout::A_cos:
      return whole ? SinusoidColumns{half + pair, pair} : SinusoidColumns{scheme.dim - 1, -1};
    case SinusoidLayout::B:
      return {pair, whole ? sinusoid_pairs(scheme) + pair : -1};
    case SinusoidLayout::C:
    case SinusoidLayout::H:
      return {2 * pair, whole ? 2 * pair + 1 : -1};
    case SinusoidLayout::G:
      break;
  }
  const std::int64_t quarter = scheme.dim / 4;
  const std::int64_t column = pair + axis_of(scheme, pair) * quarter;
  return {column, column + quarter};
}

/// What stands in a column: the inverse of sinusoid_columns.
struct SinusoidColumn {
  enum class Function { sine, cosine, zero };
  Function function;
  int axis;
  std::int64_t frequency;  ///< index on the axis
  bool operator==(const SinusoidColumn&) const = default;
};
[[nodiscard]] std::vector<SinusoidColumn> columns_of(const Sinusoidal& scheme);

/// The coordinate x of a position on an axis: the position itself, or its row and column in the grid, from 1
/// in layout H, from 0 in G.
[[nodiscard]] constexpr std::int64_t coordinate_of(const Sinusoidal& scheme, int axis,
                                                   std::int64_t position) {
  if (!has_two_axes(scheme.layout)) return position;
  const std::int64_t first = scheme.layout == SinusoidLayout::H ? 1 : 0;
  return first + (axis == 0 ? position / scheme.grid_columns : position % scheme.grid_columns);
}

/// Positions that have a row: all in one dimension, those of the grid in two.
struct PositionRange {
  std::int64_t first, last;
  [[nodiscard]] constexpr bool holds(std::int64_t position) const {
    return first <= position && position <= last;
  }
};
[[nodiscard]] constexpr PositionRange positions_of(const Sinusoidal& scheme) {
  if (!has_two_axes(scheme.layout)) return {-kMaxPosition, kMaxPosition};
  if (scheme.layout == SinusoidLayout::G) return {0, kMaxPosition};
  return {0, scheme.grid_rows * scheme.grid_columns - 1};
}

/// The exponents of frequencies along an axis: pair i of it has f base^(-i numerator / denominator), f = 1
/// but for layout H, where coordinates are scaled to (0, 2 pi]: f = 2 pi / (extent + 10^-6).
struct SinusoidLadder {
  std::int64_t numerator, denominator;
};
[[nodiscard]] constexpr SinusoidLadder ladder_of(const Sinusoidal& scheme) {
  switch (scheme.layout) {
    case SinusoidLayout::A:
    case SinusoidLayout::A_cos:
      return {1, scheme.dim / 2 - 1};
    case SinusoidLayout::F:
      return {1, scheme.dim / 2};
    case SinusoidLayout::B:
    case SinusoidLayout::C:
      return {2, scheme.dim};
    case SinusoidLayout::G:
    case SinusoidLayout::H:
      break;
  }
  return {4, scheme.dim};
}

/// The frequency of every pair, radians per coordinate, 0 for a zero column. Instantiated for float, double,
/// Mpfr, Interval, Bin100 and Rounded<24>. The float instantiation is the recipe of float32 tensors beside
/// Python doubles: exp(-i ln(base)/n) for A and F (M2M100SinusoidalPositionalEmbedding, Florence-2), the
/// reciprocal of a power elsewhere (CTRL, DETR).
template <class Real>
[[nodiscard]] std::vector<Real> inv_freq(const Sinusoidal& scheme);

/// The row of a position, [dim]; `inv_freq` as above.
template <class Real>
[[nodiscard]] std::vector<Real> sinusoid_row(const Sinusoidal& scheme, const std::vector<Real>& inv_freq,
                                             std::int64_t position);

}  // namespace sextant
