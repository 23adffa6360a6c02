// Judging whole tables: rung 0 in runs, rungs 1 and 2 by the lanes, and what they pass on by the ladder.
#include <algorithm>
#include <array>

#include "sextant/reference/oracle/codec.hpp"
#include "sextant/reference/oracle/state.hpp"

namespace sextant {

using namespace oracle;

// Pairs [begin, end) where m w = 0; the views begin at the first of them. Rows in which all values are the
// nearest ones, the usual case, are counted and judged once per octave.
template <class Bits>
void Oracle::State::check_at_rest(Tally& tally, std::int64_t first, std::int64_t count, std::size_t begin,
                                  std::size_t end, const Format& format, const TableView<const Bits>& cos,
                                  const TableView<const Bits>& sin) const {
  const Codec<Bits> codec{storage_of(format)};
  const double nearest = rounded({0, begin, Function::cos}, format, Rung::exact).value;
  struct Repeated {
    std::int64_t first = 0;
    std::uint64_t rows = 0;
  };
  std::array<Repeated, Tally::kOctaves> repeated{};
  for (std::int64_t row = 0; row < count; ++row) {
    const Bits* cos_row = cos.data + row * cos.row_step;
    const Bits* sin_row = sin.data + row * sin.row_step;
    const std::size_t n = end - begin;
    if (all_equal(cos_row, cos.pair_step, n, codec.encode(nearest), Bits{0}) &&
        all_equal(sin_row, sin.pair_step, n, Bits{0}, Codec<Bits>::kSign)) {
      Repeated& seen = repeated[static_cast<std::size_t>(octave_of(first + row))];
      if (seen.rows++ == 0) seen.first = first + row;
      continue;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const auto offset = static_cast<std::int64_t>(k);
      settle(tally, {first + row, begin + k, Function::cos}, codec.decode(cos_row[offset * cos.pair_step]),
             format, Rung::exact);
      settle(tally, {first + row, begin + k, Function::sin}, codec.decode(sin_row[offset * sin.pair_step]),
             format, Rung::exact);
    }
  }
  for (const Repeated& seen : repeated) {
    if (seen.rows == 0) continue;
    Tally one;
    settle(one, {seen.first, begin, Function::cos}, nearest, format, Rung::exact);
    settle(one, {seen.first, begin, Function::sin}, 0, format, Rung::exact);
    Errors& errors = one.octaves[static_cast<std::size_t>(octave_of(seen.first))];
    const std::uint64_t times = seen.rows * (end - begin);
    errors.undecided *= times;
    errors.sum = UlpSum::from_units(errors.sum.low * times);  // at most half an ulp each
    tally += one;
  }
}

template <class Bits>
void Oracle::State::check_sparse(Tally& tally, std::int64_t first, std::int64_t count, const Format& format,
                                 GivenTable cos, GivenTable sin) const {
  const Codec<Bits> codec{storage_of(format)};
  for (std::int64_t r = 0; r < count; ++r)
    for (std::size_t k = 0; k < pairs(); ++k) {
      const auto at = [&](const GivenTable& view) {
        return codec.decode(static_cast<const Bits*>(
            view.data)[r * view.row_step + static_cast<std::int64_t>(k) * view.pair_step]);
      };
      if (cos.data) settle(tally, {first + r, k, Function::cos}, at(cos), format, Rung::phase);
      if (sin.data) settle(tally, {first + r, k, Function::sin}, at(sin), format, Rung::phase);
    }
}

// What a tile's lanes report to: the values they leave open are settled here, and the records raised.
struct Oracle::State::TileCheck {
  const State& state;
  Tally& tally;
  const Format& format;
  std::int64_t origin;  ///< position of the tile's first row
  int sign;             ///< of its positions: rows ascend in |position|, and sines come negated for -1
  std::size_t first_pair;
  CheckState lanes{};

  [[nodiscard]] Errors& octave() const { return tally.octaves[static_cast<std::size_t>(octave_of(origin))]; }

  /// A value is no record if the double product, twice its bound taken off, says so. NaN are counted in the
  /// lanes once the first of all is certain to lie before.
  void read_records(std::int64_t position) {
    lanes.record_units = octave().max_ulp * UlpSum::kUnitsPerUlp;
    lanes.record_abs = std::max(0.0, octave().max_abs - 4 * state.bounds.table);
    lanes.nan_known = sign > 0 && tally.first_nan && tally.first_nan->position < position;
  }

  static void pass_on(void* context, std::size_t row, std::size_t lane, Function function, double got,
                      double certified_units) {
    auto& self = *static_cast<TileCheck*>(context);
    const Place at{self.origin + self.sign * static_cast<std::int64_t>(row), self.first_pair + lane,
                   function};
    if (self.state.tables.still(at.pair)) return;
    if (self.sign < 0 && function == Function::sin) got = -got;
    if (certified_units < 0) {
      self.state.settle(self.tally, at, got, self.format, Rung::wide);
    } else {
      self.state.record(self.tally, at, got, certified_units / UlpSum::kUnitsPerUlp);
      self.state.record_distance(self.octave(), at, got, self.state.look(Rung::wide, at, got).distance);
    }
    self.read_records(at.position);
  }
};

template <class Bits>
void Oracle::State::check_dense(Tally& tally, std::int64_t first, std::int64_t count, const Format& format,
                                GivenTable cos, GivenTable sin) const {
  const Codec<Bits> codec{storage_of(format)};
  // The table from a position and pair on.
  const auto from = [&](const GivenTable& view, std::int64_t position, std::size_t pair) {
    const auto offset = (position - first) * view.row_step + static_cast<std::int64_t>(pair) * view.pair_step;
    return TableView<const Bits>{static_cast<const Bits*>(view.data) + offset, view.row_step, view.pair_step};
  };

  const auto rest = [&](std::int64_t begin, std::int64_t end, std::size_t first_pair, std::size_t last_pair) {
    if (begin < end)
      check_at_rest(tally, begin, end - begin, first_pair, last_pair, format, from(cos, begin, first_pair),
                    from(sin, begin, first_pair));
  };
  const std::int64_t last = first + count;
  if (first <= 0 && last > 0) rest(0, 1, 0, pairs());
  for (const auto& [first_pair, last_pair] : still_runs) {
    rest(first, std::min<std::int64_t>(last, 0), first_pair, last_pair);
    rest(std::max<std::int64_t>(first, 1), last, first_pair, last_pair);
  }

  // Rows as the lanes want them: pairs contiguous, positions positive, pairs at rest idle.
  const auto gather = [&](const Tile& tile, int sign, std::size_t first_pair,
                          const TableView<const Bits>& view, Bits flip, Bits* to) {
    for (std::size_t row = 0; row < tile.rows; ++row)
      for (std::size_t lane = 0; lane < tile.lanes; ++lane) {
        const auto offset = sign * static_cast<std::int64_t>(row) * view.row_step +
                            static_cast<std::int64_t>(lane) * view.pair_step;
        *to++ = tables.still(first_pair + lane) ? codec.idle() : static_cast<Bits>(view.data[offset] ^ flip);
      }
  };

  const FormatLimits limits{format.precision, format.emin, format.largest};
  std::vector<Bits> cos_scratch(Tables::kFineRows * tables.width()), sin_scratch = cos_scratch;
  bool many_wrong = false;
  for_each_tile(first, count, [&](const Tile& tile, std::uint64_t begin, int sign, std::size_t block) {
    TileCheck check{
        *this, tally, format, sign * static_cast<std::int64_t>(begin), sign, block * tables.width()};
    const auto cos_view = from(cos, check.origin, check.first_pair),
               sin_view = from(sin, check.origin, check.first_pair);
    GivenRows given{cos_view.data, sin_view.data, cos.row_step * static_cast<std::ptrdiff_t>(sizeof(Bits)),
                    sin.row_step * static_cast<std::ptrdiff_t>(sizeof(Bits))};
    if (sign < 0 || cos.pair_step != 1 || sin.pair_step != 1 || !tables.full(block)) {
      gather(tile, sign, check.first_pair, cos_view, 0, cos_scratch.data());
      gather(tile, sign, check.first_pair, sin_view, sign < 0 ? Codec<Bits>::kSign : Bits{0},
             sin_scratch.data());
      const auto step = static_cast<std::ptrdiff_t>(tile.lanes * sizeof(Bits));
      given = {cos_scratch.data(), sin_scratch.data(), step, step};
    }
    check.read_records(check.origin);
    check.lanes.expect_wrong = many_wrong;
    check.lanes.pass_on = TileCheck::pass_on;
    check.lanes.context = &check;
    lanes->check(tile, given, codec.storage, limits, bounds, check.lanes);

    Errors& octave = check.octave();
    octave.sum += UlpSum::from_units(check.lanes.units);
    octave.not_correctly_rounded += check.lanes.not_correctly_rounded + check.lanes.nan;
    octave.nan += check.lanes.nan;
    many_wrong = check.lanes.not_correctly_rounded > tile.rows * tile.lanes / 64;
  });
}

Tally Oracle::check(std::int64_t first_position, std::int64_t count, const Format& format, GivenTable cos,
                    GivenTable sin) const {
  check_range(first_position, count);
  const Storage storage = storage_of(format);
  Tally tally;
  const std::uint64_t functions = (cos.data ? 1 : 0) + (sin.data ? 1 : 0);
  const bool dense = functions == 2 && state_->dense(first_position, count);
  if (storage == Storage::float32)
    (state_.get()->*(dense ? &State::check_dense<std::uint32_t> : &State::check_sparse<std::uint32_t>))(
        tally, first_position, count, format, cos, sin);
  else
    (state_.get()->*(dense ? &State::check_dense<std::uint16_t> : &State::check_sparse<std::uint16_t>))(
        tally, first_position, count, format, cos, sin);

  const auto pairs = static_cast<std::uint64_t>(state_->pairs());
  tally.points = static_cast<std::uint64_t>(count) * pairs;
  for (std::int64_t m = first_position; m < first_position + count;) {
    // Positions up to the end of m's octave, seen in ascending order.
    const int octave = octave_of(m);
    const std::int64_t edge = m < 0 ? -((std::int64_t{1} << (octave - 1)) - 1) : std::int64_t{1} << octave;
    const std::int64_t stop = std::min(first_position + count, std::max(edge, m + 1));
    tally.octaves[static_cast<std::size_t>(octave)].values +=
        functions * pairs * static_cast<std::uint64_t>(stop - m);
    m = stop;
  }
  for (const Errors& octave : tally.octaves) tally.all += octave;
  for (auto* witness : {&tally.worst, &tally.first_nan})
    if (*witness)
      (*witness)->want = state_
                             ->rounded({(*witness)->position, static_cast<std::size_t>((*witness)->pair),
                                        (*witness)->function},
                                       format, State::Rung::wide)
                             .value;
  return tally;
}

}  // namespace sextant
