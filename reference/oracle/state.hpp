// What an oracle holds, and the ladder for a single value.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/judge.hpp"
#include "sextant/reference/oracle/lanes.hpp"
#include "sextant/reference/oracle/oracle.hpp"
#include "sextant/reference/oracle/phase.hpp"
#include "sextant/reference/oracle/tables.hpp"

namespace sextant {

namespace oracle {

/// |position| without overflow.
[[nodiscard]] inline std::uint64_t magnitude(std::int64_t position) {
  return position < 0 ? -static_cast<std::uint64_t>(position) : static_cast<std::uint64_t>(position);
}

/// Throws InputError unless all positions lie within -2^40 .. 2^40.
void check_range(std::int64_t first, std::int64_t count);

}  // namespace oracle

/// Values of one encoding at one length. Everything is set by make() and never changes.
struct Oracle::State {
  std::vector<Mpfr> inv_freq;
  Mpfr factor;
  double factor_double;
  Wide factor_wide;
  bool factor_exact;  ///< factor_wide is the factor itself, so that ties at position 0 are decided
  double scale;       ///< the least power of two not below the factor
  std::vector<oracle::TurnsPerPosition> turns;
  std::vector<std::pair<std::size_t, std::size_t>> still_runs;  ///< [begin, end) of pairs with frequency 0
  int precision_limit;
  const oracle::Lanes* lanes;
  oracle::Bounds bounds;
  double rows_bound, phase_bound, integers_bound;
  oracle::Tables tables;

  static std::unique_ptr<const State> make(std::vector<Mpfr> inv_freq, const Mpfr& factor, std::int64_t begin,
                                           std::int64_t end, const OracleOptions& options);

  [[nodiscard]] std::size_t pairs() const { return turns.size(); }

  /// Whether tables serve these rows: below four, the tables' factors cost more than the integer phase.
  [[nodiscard]] bool dense(std::int64_t first, std::int64_t count) const {
    return count >= 4 &&
           std::max(oracle::magnitude(first), oracle::magnitude(first + count - 1)) < tables.limit();
  }

  struct Place {
    std::int64_t position;
    std::size_t pair;
    Function function;
  };
  [[nodiscard]] bool at_rest(const Place& at) const { return at.position == 0 || tables.still(at.pair); }

  /// Sign and attention factor applied, as all that follows; within phase_bound.
  [[nodiscard]] oracle::CosSin phase_pair(std::int64_t position, std::size_t pair) const;
  /// Within integers_bound.
  [[nodiscard]] Wide wide(const Place& at) const;
  /// Within scale 2^(1 - bits), for bits <= 240.
  [[nodiscard]] Mpfr exact(const Place& at, unsigned bits) const;

  /// The truth as a rung of the ladder knows it, and its distance to a given value. `exact` is rung 0, phase
  /// rung 1, wide rung 2, precise and limit rung 3.
  enum class Rung { exact, phase, wide, precise, limit };
  struct Look {
    Wide value;
    double bound;
    oracle::Enclosure distance;
  };
  [[nodiscard]] Look look(Rung rung, const Place& at, double got) const;

  struct Rounded {
    double value;
    bool certain;
  };
  /// The value of `format` nearest to the truth, climbing from `first`.
  [[nodiscard]] Rounded rounded(const Place& at, const Format& format, Rung first) const;

  /// Adds one value to the tally, climbing from `first`; `values` and `points` are left to the caller.
  void settle(Tally& tally, const Place& at, double got, const Format& format, Rung first) const;
  void record(Tally& tally, const Place& at, double got, double ulp) const;
  void record_distance(Errors& octave, const Place& at, double got, const oracle::Enclosure& distance) const;

  /// Calls visit(tile, |position| of its first row, sign, block) for the moving pairs of all positions but 0;
  /// a tile lies within one octave, and its rows ascend in |position|.
  template <class Visit>
  void for_each_tile(std::int64_t first, std::int64_t count, Visit visit) const;

  struct TileCheck;
  template <class Bits>
  void check_dense(Tally& tally, std::int64_t first, std::int64_t count, const Format& format, GivenTable cos,
                   GivenTable sin) const;
  template <class Bits>
  void check_sparse(Tally& tally, std::int64_t first, std::int64_t count, const Format& format,
                    GivenTable cos, GivenTable sin) const;
  template <class Bits>
  void check_at_rest(Tally& tally, std::int64_t first, std::int64_t count, std::size_t begin, std::size_t end,
                     const Format& format, const TableView<const Bits>& cos,
                     const TableView<const Bits>& sin) const;
  template <class Bits>
  std::uint64_t produce(std::int64_t first, std::int64_t count, const Format& format, WrittenTable cos,
                        WrittenTable sin) const;
};

template <class Visit>
void Oracle::State::for_each_tile(std::int64_t first, std::int64_t count, Visit visit) const {
  const std::size_t plane = tables.width();
  const oracle::AlignedDoubles section(4 * plane * tables.blocks()), product(4 * plane);
  const auto sweep = [&](std::uint64_t begin, std::uint64_t end, int sign) {
    std::uint64_t laid = ~std::uint64_t{0};
    while (begin < end) {
      const std::uint64_t block_end = (begin / oracle::Tables::kFineRows + 1) * oracle::Tables::kFineRows;
      const std::uint64_t stop = std::min({end, block_end, std::bit_ceil(begin + 1)});
      if (const std::uint64_t i = begin / oracle::Tables::kSection; i != laid)
        tables.section(laid = i, section.data());
      for (std::size_t block = 0; block < tables.blocks(); ++block) {
        if (tables.idle(block)) continue;
        lanes->multiply(tables.section_row(section.data(), block),
                        tables.mid_row(block, begin / oracle::Tables::kFineRows % oracle::Tables::kMidRows),
                        product.data(), plane, plane);
        visit(oracle::Tile{{product.data(), product.data() + 2 * plane, plane},
                           tables.fine_row(block, begin % oracle::Tables::kFineRows),
                           tables.row_step(),
                           static_cast<std::size_t>(stop - begin),
                           plane},
              begin, sign, block);
      }
      begin = stop;
    }
  };
  const std::int64_t end = first + count;
  if (first < 0)
    sweep(std::max<std::uint64_t>(1, oracle::magnitude(std::min<std::int64_t>(end, 1) - 1)),
          oracle::magnitude(first) + 1, -1);
  if (end > 1)
    sweep(static_cast<std::uint64_t>(std::max<std::int64_t>(first, 1)), static_cast<std::uint64_t>(end), 1);
}

}  // namespace sextant
