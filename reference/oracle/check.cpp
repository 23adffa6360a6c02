// Judging whole tables: rung 0 in runs, rungs 1 and 2 by the lanes, and what they pass on by the ladder.
#include <algorithm>
#include <array>

#include "sextant/reference/oracle/codec.hpp"
#include "sextant/reference/oracle/state.hpp"

namespace sextant {

using namespace oracle;

// Pairs [begin, end) where m w = 0. Rows in which all values are the nearest ones, the usual case, are
// counted and judged once per octave.
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
    const Bits* cos_row = cos.data + row * cos.row_step + static_cast<std::int64_t>(begin) * cos.pair_step;
    const Bits* sin_row = sin.data + row * sin.row_step + static_cast<std::int64_t>(begin) * sin.pair_step;
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
      settle(tally, {first + r, k, Function::cos}, at(cos), format, Rung::phase);
      settle(tally, {first + r, k, Function::sin}, at(sin), format, Rung::phase);
    }
}

template <class Bits>
void Oracle::State::check_dense(Tally& tally, std::int64_t first, std::int64_t count, const Format& format,
                                GivenTable cos, GivenTable sin) const {
  const Codec<Bits> codec{storage_of(format)};
  const auto* cos_data = static_cast<const Bits*>(cos.data);
  const auto* sin_data = static_cast<const Bits*>(sin.data);
  const TableView<const Bits> cos_at_rest{cos_data, cos.row_step, cos.pair_step};
  const TableView<const Bits> sin_at_rest{sin_data, sin.row_step, sin.pair_step};
  const auto rest = [&](std::int64_t from, std::int64_t to, std::size_t begin, std::size_t end) {
    if (from >= to) return;
    auto cos_from = cos_at_rest, sin_from = sin_at_rest;
    cos_from.data += (from - first) * cos.row_step;
    sin_from.data += (from - first) * sin.row_step;
    check_at_rest(tally, from, to - from, begin, end, format, cos_from, sin_from);
  };
  const std::int64_t last = first + count;
  if (first <= 0 && last > 0) rest(0, 1, 0, pairs());
  for (const auto& [begin, end] : still_runs) {
    rest(first, std::min<std::int64_t>(last, 0), begin, end);
    rest(std::max<std::int64_t>(first, 1), last, begin, end);
  }

  struct Context {
    const State* state;
    Tally* tally;
    const Format* format;
    CheckState* lanes;
    std::int64_t origin;
    int sign;
    std::size_t first_pair;
  };
  const FormatLimits limits{format.precision, format.emin, format.largest};
  std::vector<Bits> scratch(2 * Tables::kFineRows * tables.width());
  bool many_wrong = false;
  for_each_tile(first, count, [&](const Tile& tile, std::uint64_t begin, int sign, std::size_t block) {
    const std::int64_t origin = sign * static_cast<std::int64_t>(begin);
    const std::size_t first_pair = block * tables.width();
    const auto start = [&](const GivenTable& view, const Bits* data) {
      return data + (origin - first) * view.row_step + static_cast<std::int64_t>(first_pair) * view.pair_step;
    };
    GivenRows given{start(cos, cos_data), start(sin, sin_data),
                    sign * cos.row_step * static_cast<std::int64_t>(sizeof(Bits)),
                    sign * sin.row_step * static_cast<std::int64_t>(sizeof(Bits))};
    if (sign < 0 || cos.pair_step != 1 || sin.pair_step != 1 || !tables.full(block)) {
      const auto gather = [&](const GivenTable& view, const Bits* from, Bits* to, Bits flip) {
        for (std::size_t row = 0; row < tile.rows; ++row)
          for (std::size_t lane = 0; lane < tile.lanes; ++lane) {
            const auto offset = sign * static_cast<std::int64_t>(row) * view.row_step +
                                static_cast<std::int64_t>(lane) * view.pair_step;
            to[row * tile.lanes + lane] =
                tables.still(first_pair + lane) ? codec.idle() : static_cast<Bits>(from[offset] ^ flip);
          }
      };
      Bits* const sin_scratch = scratch.data() + Tables::kFineRows * tables.width();
      gather(cos, static_cast<const Bits*>(given.cos), scratch.data(), 0);
      gather(sin, static_cast<const Bits*>(given.sin), sin_scratch, sign < 0 ? Codec<Bits>::kSign : Bits{0});
      const auto step = static_cast<std::ptrdiff_t>(tile.lanes * sizeof(Bits));
      given = {scratch.data(), sin_scratch, step, step};
    }

    Errors& octave = tally.octaves[static_cast<std::size_t>(octave_of(origin))];
    CheckState lane_state;
    Context context{this, &tally, &format, &lane_state, origin, sign, first_pair};
    // A record by table values may err by twice the bound.
    static constexpr auto set_records = [](CheckState& to, const Errors& from, double bound) {
      to.record_units = from.max_ulp * UlpSum::kUnitsPerUlp;
      to.record_abs = std::max(0.0, from.max_abs - 4 * bound);
    };
    set_records(lane_state, octave, bounds.table);
    lane_state.nan_known = tally.first_nan && tally.first_nan->position < origin && sign > 0;
    lane_state.context = &context;
    lane_state.expect_wrong = many_wrong;
    lane_state.pass_on = [](void* raw, std::size_t row, std::size_t lane, Function function, double got,
                            double certified_units) {
      auto& [state, tally_of, format_of, lanes_of, from, direction, pair] = *static_cast<Context*>(raw);
      if (state->tables.still(pair + lane)) return;
      const Place at{from + direction * static_cast<std::int64_t>(row), pair + lane, function};
      if (direction < 0 && function == Function::sin) got = -got;
      Errors& known = tally_of->octaves[static_cast<std::size_t>(octave_of(at.position))];
      if (certified_units < 0) {
        state->settle(*tally_of, at, got, *format_of, Rung::wide);
      } else {
        state->record(*tally_of, at, got, certified_units / UlpSum::kUnitsPerUlp);
        state->record_distance(known, at, got, state->look(Rung::wide, at, got).distance);
      }
      set_records(*lanes_of, known, state->bounds.table);
      lanes_of->nan_known =
          direction > 0 && tally_of->first_nan && tally_of->first_nan->position < at.position;
    };
    lanes->check(tile, given, codec.storage, limits, bounds, lane_state);
    octave.sum += UlpSum::from_units(lane_state.units);
    octave.not_correctly_rounded += lane_state.not_correctly_rounded + lane_state.nan;
    octave.nan += lane_state.nan;
    many_wrong = lane_state.not_correctly_rounded > tile.rows * tile.lanes / 64;
  });
}

Tally Oracle::check(std::int64_t first_position, std::int64_t count, const Format& format, GivenTable cos,
                    GivenTable sin) const {
  check_range(first_position, count);
  const Storage storage = storage_of(format);
  Tally tally;
  const bool dense = state_->dense(first_position, count);
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
        2 * pairs * static_cast<std::uint64_t>(stop - m);
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
