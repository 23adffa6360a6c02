// The inner loops over pairs, once per SIMD target: double tables, their double-double backing, and what each
// lane can certify by itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sextant/reference/oracle/tally.hpp"

namespace sextant::oracle {

/// cos at the pointers, sin `plane` further, in high and low words.
struct WideRow {
  const double* high;
  const double* low;
  std::size_t plane;
};

/// |multiply - exact product| in units of the scale that bounds its factors' products; proved in lanes.cpp.
inline constexpr double kWideProduct = 14 * 0x1p-107;

enum class Storage { float32, float16, bfloat16 };

/// Rows times lanes of a tile, at most.
inline constexpr std::size_t kMaxTile = 64 * 64;

/// A tile of consecutive positions times a block of pairs. Position b has the truth factor * fine[b], as
/// complex numbers, within the bounds; the lanes of a row count up to a multiple of 8 and may be read in
/// whole.
struct Tile {
  WideRow factor;
  WideRow fine;
  std::size_t fine_step;  ///< between rows of fine, in doubles
  std::size_t rows;
  std::size_t lanes;
};

/// Given values: row r begins at data + r * step bytes, pairs contiguous, `lanes` of them readable.
struct GivenRows {
  const void* cos;
  const void* sin;
  std::ptrdiff_t cos_step;
  std::ptrdiff_t sin_step;
};

/// Absolute bounds of the products. `scale` is a power of two that no true value exceeds; a table value at or
/// above it may err by 2^-54 scale more than `table` says, since a sum may round there to the next binade.
struct Bounds {
  double scale;
  double table;
  double wide;
};

/// What a tile of values has shown so far, and from which error on a value is a record.
struct CheckState {
  double record_units = 0;    ///< in units of 2^-16 ulp: as bad as this is passed on
  double record_abs = 0;      ///< further off than this is passed on
  bool expect_wrong = false;  ///< a matter of speed alone
  bool nan_known = false;     ///< NaN are counted; the first of all is passed on
  std::uint64_t units = 0;
  std::uint64_t not_correctly_rounded = 0;
  std::uint64_t nan = 0;
  /// Receives every value that the lanes do not finish. With certified_units >= 0 it is counted already and
  /// may be a record; with -1 nothing is known about it. Raises record_units and record_abs.
  void (*pass_on)(void* context, std::size_t row, std::size_t lane, Function function, double got,
                  double certified_units) = nullptr;
  void* context = nullptr;
};

/// Decides a lane that an interval did not: the correctly rounded value.
struct ProduceState {
  double (*pass_on)(void* context, std::size_t row, std::size_t lane, Function function) = nullptr;
  void* context = nullptr;
};

struct FormatLimits {
  int precision;
  int emin;
  double largest;
};

/// The loops of one target. All targets give the same bits: the same IEEE operations in the same order,
/// no FMA but for exact errors of products.
struct Lanes {
  std::string_view name;
  /// top * mid in double-double: cos, sin, and their low words, each `plane` after the other.
  void (*multiply)(WideRow top, WideRow mid, double* out, std::size_t plane, std::size_t lanes);
  /// Rows of doubles within Bounds::table: cos and sin, `step` doubles from row to row.
  void (*evaluate)(const Tile& tile, double* cos, double* sin, std::size_t step);
  /// The same in double-double, within Bounds::wide, a row laid out as by multiply.
  void (*evaluate_wide)(const Tile& tile, double* out, std::size_t plane, std::size_t step);
  void (*check)(const Tile& tile, const GivenRows& given, Storage storage, const FormatLimits& format,
                const Bounds& bounds, CheckState& state);
  /// Rows of correctly rounded values, `step` bytes apart, whole lanes written.
  void (*produce)(const Tile& tile, void* cos, void* sin, std::size_t step, Storage storage,
                  const FormatLimits& format, const Bounds& bounds, const ProduceState& state);
};

/// Those that this machine can run, best first.
[[nodiscard]] std::span<const Lanes* const> supported_lanes();

}  // namespace sextant::oracle
