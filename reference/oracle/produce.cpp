// Making whole tables: doubles within the bound, and correctly rounded values.
#include <algorithm>

#include "sextant/reference/oracle/codec.hpp"
#include "sextant/reference/oracle/state.hpp"

namespace sextant {

using namespace oracle;

void Oracle::rows(std::int64_t first_position, std::int64_t count, double* cos, double* sin) const {
  check_range(first_position, count);
  const std::size_t pairs = state_->pairs();
  const auto row_at = [&](std::int64_t position) {
    return static_cast<std::size_t>(position - first_position) * pairs;
  };
  if (!state_->dense(first_position, count)) {
    for (std::int64_t m = first_position; m < first_position + count; ++m)
      row(m, cos + row_at(m), sin + row_at(m));
    return;
  }
  if (first_position <= 0 && first_position + count > 0) row(0, cos + row_at(0), sin + row_at(0));
  for (const auto& [begin, end] : state_->still_runs)
    for (std::int64_t m = first_position; m < first_position + count; ++m) {
      std::fill(cos + row_at(m) + begin, cos + row_at(m) + end, state_->factor_double);
      std::fill(sin + row_at(m) + begin, sin + row_at(m) + end, 0.0);
    }
  const std::size_t width = state_->tables.width();
  const AlignedDoubles scratch(2 * Tables::kFineRows * width);
  double* const sin_scratch = scratch.data() + Tables::kFineRows * width;
  state_->for_each_tile(
      first_position, count, [&](const Tile& tile, std::uint64_t begin, int sign, std::size_t block) {
        state_->lanes->evaluate(tile, scratch.data(), sin_scratch, width);
        for (std::size_t row = 0; row < tile.rows; ++row)
          for (std::size_t lane = 0; lane < width; ++lane) {
            const std::size_t pair = block * width + lane;
            if (state_->tables.still(pair)) continue;
            const std::size_t at = row_at(sign * static_cast<std::int64_t>(begin + row)) + pair;
            cos[at] = scratch.data()[row * width + lane];
            sin[at] = sign * sin_scratch[row * width + lane];
          }
      });
}

template <class Bits>
std::uint64_t Oracle::State::produce(std::int64_t first, std::int64_t count, const Format& format,
                                     WrittenTable cos, WrittenTable sin) const {
  const Codec<Bits> codec{storage_of(format)};
  std::uint64_t undecided = 0;
  const auto put = [&](const WrittenTable& view, std::int64_t position, std::size_t pair, Bits bits) {
    static_cast<Bits*>(
        view.data)[(position - first) * view.row_step + static_cast<std::int64_t>(pair) * view.pair_step] =
        bits;
  };
  const auto put_rounded = [&](std::int64_t position, std::size_t pair) {
    for (const Function function : {Function::cos, Function::sin}) {
      const auto [value, certain] = rounded({position, pair, function}, format, Rung::phase);
      undecided += certain ? 0 : 1;
      put(function == Function::cos ? cos : sin, position, pair, codec.encode(value));
    }
  };
  const bool in_bulk = dense(first, count);
  for (std::int64_t m = first; m < first + count; ++m)
    if (!in_bulk || m == 0)
      for (std::size_t pair = 0; pair < pairs(); ++pair) put_rounded(m, pair);
  if (!in_bulk) return undecided;

  if (!still_runs.empty()) {
    const auto [at_rest_value, certain] = rounded({0, 0, Function::cos}, format, Rung::exact);
    for (const auto& [begin, end] : still_runs)
      for (std::int64_t m = first; m < first + count; ++m)
        for (std::size_t pair = begin; pair < end && m != 0; ++pair) {
          undecided += certain ? 0 : 1;
          put(cos, m, pair, codec.encode(at_rest_value));
          put(sin, m, pair, 0);
        }
  }

  struct Context {
    const State* state;
    const Format* format;
    std::uint64_t* undecided;
    std::int64_t origin;
    std::size_t first_pair;
  };
  const FormatLimits limits{format.precision, format.emin, format.largest};
  const std::size_t width = tables.width();
  std::vector<Bits> scratch(2 * Tables::kFineRows * width);
  Bits* const sin_scratch = scratch.data() + Tables::kFineRows * width;
  for_each_tile(first, count, [&](const Tile& tile, std::uint64_t begin, int sign, std::size_t block) {
    Context context{this, &format, &undecided, static_cast<std::int64_t>(begin), block * width};
    const ProduceState open{
        [](void* raw, std::size_t row, std::size_t lane, Function function) {
          const auto& [state, format_of, undecided_of, from, pair] = *static_cast<Context*>(raw);
          if (state->tables.still(pair + lane)) return 0.75;
          const auto [value, certain] = state->rounded(
              {from + static_cast<std::int64_t>(row), pair + lane, function}, *format_of, Rung::wide);
          *undecided_of += certain ? 0 : 1;
          return value;
        },
        &context};
    const bool direct = sign > 0 && cos.pair_step == 1 && sin.pair_step == 1 &&
                        cos.row_step == sin.row_step && cos.row_step > 0 && tables.full(block);
    if (direct) {
      const auto start = [&](const WrittenTable& view) {
        return static_cast<Bits*>(view.data) + (static_cast<std::int64_t>(begin) - first) * view.row_step +
               static_cast<std::int64_t>(block * width);
      };
      lanes->produce(tile, start(cos), start(sin), static_cast<std::size_t>(cos.row_step) * sizeof(Bits),
                     codec.storage, limits, bounds, open);
      return;
    }
    lanes->produce(tile, scratch.data(), sin_scratch, width * sizeof(Bits), codec.storage, limits, bounds,
                   open);
    for (std::size_t row = 0; row < tile.rows; ++row)
      for (std::size_t lane = 0; lane < width; ++lane) {
        const std::size_t pair = block * width + lane;
        if (tables.still(pair)) continue;
        const std::int64_t position = sign * static_cast<std::int64_t>(begin + row);
        const Bits flip = sign < 0 ? Codec<Bits>::kSign : Bits{0};
        put(cos, position, pair, scratch[row * width + lane]);
        put(sin, position, pair, static_cast<Bits>(sin_scratch[row * width + lane] ^ flip));
      }
  });
  return undecided;
}

std::uint64_t Oracle::produce(std::int64_t first_position, std::int64_t count, const Format& format,
                              WrittenTable cos, WrittenTable sin) const {
  check_range(first_position, count);
  return storage_of(format) == Storage::float32
             ? state_->produce<std::uint32_t>(first_position, count, format, cos, sin)
             : state_->produce<std::uint16_t>(first_position, count, format, cos, sin);
}

}  // namespace sextant
