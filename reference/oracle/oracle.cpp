#include "sextant/reference/oracle/oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/environment.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/oracle/judge.hpp"
#include "sextant/reference/oracle/lanes.hpp"
#include "sextant/reference/oracle/phase.hpp"
#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/oracle/tables.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

using namespace oracle;

// Below this many rows the tables' factors cost more than the integer phase of each value.
constexpr std::int64_t kDenseRows = 4;

std::uint64_t magnitude(std::int64_t position) {
  return position < 0 ? -static_cast<std::uint64_t>(position) : static_cast<std::uint64_t>(position);
}

// The least power of two that is not below x > 0.
double power_of_two_above(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5 ? x : std::ldexp(1.0, exponent);
}

// Bounds per attention factor A, p the least power of two not below it, in units of 2^-54 p.
//
// Rung 1, v = RN(RN(Ec Fc) - RN(Es Fs)), |E| = A, |F| = 1. The high words of E err by 1 (their components
// stay below p), those of F by 1/p: together sqrt(2) (p + A) / p, for |c| + |s| <= sqrt(2). Two products
// round by 1 each, and their sum by 1 if |v| < p; the sum can round by 2 if v = p or more. For A = 1 that is
// 2 sqrt(2) + 3 = 5.83, 2^-51.46, and 6.83, 2^-51.23, with v = 1; the worst seen over random products is
// 2^-51.7.
double proved_table_bound(double factor, double scale) {
  return (1.41421356237310 * (1 + factor / scale) + 3) * scale * 0x1p-54 * (1 + 0x1p-40);
}
double proved_rows_bound(double table_bound, double scale) { return table_bound + scale * 0x1p-54; }

// The integer phase times A: the phase's own bound, and, unless A is a power of two, the roundings of A and
// of the product, 1 each.
double proved_phase_bound(double factor, double scale) {
  return kPhaseBound * factor + (factor == scale ? 0 : scale * 0x1p-53 * (1 + 0x1p-40));
}

// Rung 2 in lanes, in units of 2^-107 p: E = top mid errs by 14 (lanes.cpp) + 2 sqrt(2) (both tables within
// 1, see kFixedToWide) = 16.9; the value by 14 + sqrt(2) (16.9 + 1) = 39.3; the low words of its difference
// to a given value round by less than 2.
constexpr double kWideLanes = 42 * 0x1p-107;

// Rung 2 in integers: 2^-107 p of the conversion; position 2^-186 <= 2^-146 of the powers.
constexpr double kWideIntegers = kFixedToWide * (1 + 0x1p-38);

Storage storage_of(const Format& format) {
  if (format.precision == kFloat32.precision) return Storage::float32;
  if (format.precision == kFloat16.precision) return Storage::float16;
  if (format.precision == kBFloat16.precision) return Storage::bfloat16;
  throw InputError("oracle: tables of format " + std::string(format.name) +
                   " are not judged; use f32, f16 or bf16");
}

// The bits of one stored value, its double, and 0.75 (what idle lanes hold).
template <class Bits>
struct Codec {
  Storage storage;

  [[nodiscard]] Bits idle() const {
    if constexpr (sizeof(Bits) == 4) return 0x3f400000;
    return storage == Storage::float16 ? 0x3a00 : 0x3f40;
  }
  [[nodiscard]] double decode(Bits bits) const {
    if constexpr (sizeof(Bits) == 4) return std::bit_cast<float>(bits);
    if (storage == Storage::bfloat16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const auto rest = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
    const float size = (bits & 0x7c00) == 0x7c00 ? std::bit_cast<float>(rest | 0x7f800000)
                                                 : std::bit_cast<float>(rest) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
  }
  /// `value` is representable.
  [[nodiscard]] Bits encode(double value) const {
    const auto narrow = static_cast<float>(value);
    const auto bits = std::bit_cast<std::uint32_t>(narrow);
    if constexpr (sizeof(Bits) == 4) return bits;
    if (storage == Storage::bfloat16) return static_cast<Bits>(bits >> 16);
    const std::uint32_t size =
        std::isinf(narrow) ? 0x7c00 : std::bit_cast<std::uint32_t>(std::fabs(narrow) * 0x1p-112f) >> 13;
    return static_cast<Bits>(bits >> 31 << 15 | size);
  }
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
};

// Whether all n values agree with `want` outside the ignored bits.
template <class Bits>
bool all_equal(const Bits* data, std::int64_t step, std::size_t n, Bits want, Bits ignored) {
  Bits differ = 0;
  if (step == 1)
    for (std::size_t k = 0; k < n; ++k) differ |= static_cast<Bits>(data[k] ^ want);
  else
    for (std::size_t k = 0; k < n; ++k)
      differ |= static_cast<Bits>(data[static_cast<std::int64_t>(k) * step] ^ want);
  return static_cast<Bits>(differ & static_cast<Bits>(~ignored)) == 0;
}

const Lanes& find_lanes(std::string_view target) {
  for (const Lanes* lanes : supported_lanes())
    if (target.empty() || lanes->name == target) return *lanes;
  std::string names;
  for (const Lanes* lanes : supported_lanes())
    names += (names.empty() ? "" : ", ") + std::string(lanes->name);
  throw InputError("oracle: target " + std::string(target) + " does not run here; it has " + names);
}

void check_range(std::int64_t first, std::int64_t count) {
  if (count < 0 || first < -kMaxPosition || first > kMaxPosition || count > kMaxPosition - first + 1)
    throw InputError("oracle: positions must lie within -2^40 .. 2^40");
}

}  // namespace

struct Oracle::State {
  std::vector<Mpfr> inv_freq;
  Mpfr factor;
  double factor_double, scale;
  bool factor_exact;  ///< is factor_wide the factor itself? Then ties at position 0 are decided.
  Wide factor_wide;
  std::vector<TurnsPerPosition> turns;
  std::vector<std::pair<std::size_t, std::size_t>> still_runs;
  int precision_limit;
  const Lanes* lanes;
  Bounds bounds;
  double phase_bound, integers_bound;
  Tables tables;

  static std::unique_ptr<const State> make(std::vector<Mpfr> inv_freq, const Mpfr& factor, std::int64_t begin,
                                           std::int64_t end, const OracleOptions& options);

  [[nodiscard]] std::size_t pairs() const { return turns.size(); }
  [[nodiscard]] bool dense(std::int64_t first, std::int64_t count) const {
    return count >= kDenseRows && std::max(magnitude(first), magnitude(first + count - 1)) < tables.limit();
  }

  /// The value of the integer phase, sign and factor applied.
  [[nodiscard]] CosSin phase_pair(std::int64_t position, std::size_t pair) const {
    if (position == 0 || tables.still(pair)) return {factor_double, 0};
    const CosSin bare = phase(turns[pair], magnitude(position));
    return {factor_double * bare.cos, factor_double * (position < 0 ? -bare.sin : bare.sin)};
  }
  [[nodiscard]] Wide wide(std::int64_t position, std::size_t pair, Function function) const;
  [[nodiscard]] Mpfr exact(std::int64_t position, std::size_t pair, Function function, unsigned bits) const;

  // What rung 0 says of m w = 0, what rungs 1 (integer phase), 2 (integers) and 3 say of the rest.
  struct Place {
    std::int64_t position;
    std::size_t pair;
    Function function;
  };
  [[nodiscard]] bool at_rest(const Place& at) const { return at.position == 0 || tables.still(at.pair); }
  struct Look {
    Wide value;
    double bound;
    Enclosure distance;  ///< to the value given
  };
  enum class Rung { exact, phase, wide, precise, limit };
  [[nodiscard]] Look look(Rung rung, const Place& at, double got) const;
  [[nodiscard]] std::pair<double, bool> rounded(const Place& at, const Format& format, Rung first) const;

  void settle(Tally& tally, const Place& at, double got, const Format& format, Rung first) const;
  void record(Tally& tally, const Place& at, double got, double ulp) const;
  void record_distance(Errors& octave, const Place& at, double got, const Enclosure& distance) const;

  template <class Visit>
  void for_each_tile(std::int64_t first, std::int64_t count, Visit visit) const;

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

std::unique_ptr<const Oracle::State> Oracle::State::make(std::vector<Mpfr> inv_freq, const Mpfr& factor,
                                                         std::int64_t begin, std::int64_t end,
                                                         const OracleOptions& options) {
  check_floating_point();
  if (begin > end) throw InputError("oracle: the range of positions ends before it begins");
  if (begin != end) check_range(begin, end - begin);
  if (inv_freq.empty()) throw InputError("oracle: there are no frequencies");
  if (!(factor > 0) || !mp::isfinite(factor))
    throw InputError("oracle: the attention factor must be positive");
  const WorkingDigits scope(kSeedDigits);
  const auto factor_double = factor.convert_to<double>();
  const double above = power_of_two_above(factor_double);
  const double scale = factor > above ? 2 * above : above;
  const double rest = Mpfr(factor - factor_double).convert_to<double>();
  const bool factor_exact = Mpfr(Mpfr(factor - factor_double) - rest) == 0;

  std::vector<Phasor> units;
  std::vector<TurnsPerPosition> turns;
  std::vector<bool> still;
  std::vector<std::pair<std::size_t, std::size_t>> still_runs;
  for (const Mpfr& w : inv_freq) {
    if (!mp::isfinite(w) || abs(w) > 0x1p32)
      throw InputError("oracle: every frequency must be finite and at most 2^32 radians per position");
    const std::size_t pair = units.size();
    still.push_back(w == 0);
    units.push_back(phasor(w));
    turns.push_back(turns_per_position(w));
    if (w != 0) continue;
    if (still_runs.empty() || still_runs.back().second != pair) still_runs.emplace_back(pair, pair);
    still_runs.back().second = pair + 1;
  }
  const std::uint64_t limit = begin == end ? 0 : std::max(magnitude(begin), magnitude(end - 1)) + 1;
  const Bounds bounds{scale, std::max(proved_table_bound(factor_double, scale), options.table_bound),
                      std::max(kWideLanes * scale, options.wide_bound)};
  Tables tables(std::move(units), std::move(still), to_fixed(factor / scale), scale, limit);
  return std::unique_ptr<const State>(new State{
      std::move(inv_freq), factor, factor_double, scale, factor_exact, fast_two_sum(factor_double, rest),
      std::move(turns), std::move(still_runs), options.precision_limit, &find_lanes(options.target), bounds,
      std::max(proved_phase_bound(factor_double, scale), options.table_bound),
      std::max(kWideIntegers * scale, options.wide_bound), std::move(tables)});
}

Wide Oracle::State::wide(std::int64_t position, std::size_t pair, Function function) const {
  if (at_rest({position, pair, function})) return function == Function::cos ? factor_wide : Wide{};
  const Phasor value = tables.power(pair, magnitude(position));
  const Wide bare = to_wide(function == Function::cos ? value.cos : value.sin);
  const double sign = function == Function::sin && position < 0 ? -scale : scale;
  return {sign * bare.hi, sign * bare.lo};
}

Mpfr Oracle::State::exact(std::int64_t position, std::size_t pair, Function function, unsigned bits) const {
  // The angle is good to 2^-240 rad: |position w| <= 2^72, relative 2^-312 or better at 320 bits.
  const WorkingDigits scope(kSeedDigits);
  const Mpfr angle = inv_freq[pair] * position;
  Mpfr value;
  mpfr_set_prec(value.backend().data(), bits + 2);
  const auto call = function == Function::cos ? mpfr_cos : mpfr_sin;
  call(value.backend().data(), angle.backend().data(), MPFR_RNDN);
  Mpfr product;
  mpfr_mul(product.backend().data(), value.backend().data(), factor.backend().data(), MPFR_RNDN);
  return product;
}

Oracle::State::Look Oracle::State::look(Rung rung, const Place& at, double got) const {
  const auto from = [&](const Wide& value, double bound) {
    return Look{value, bound, distance(got, value, bound)};
  };
  if (rung == Rung::exact) {
    if (at.function == Function::sin) return from({}, 0);
    return from(factor_wide, factor_exact ? 0 : scale * 0x1p-106);
  }
  if (rung == Rung::phase) {
    const CosSin value = phase_pair(at.position, at.pair);
    return from(at.function == Function::cos ? value.cos : value.sin, phase_bound);
  }
  if (rung == Rung::wide) return from(wide(at.position, at.pair, at.function), integers_bound);
  // The distance is formed exactly before it is narrowed, so a close call is no loss.
  const WorkingDigits scope(kSeedDigits);
  const int bits = rung == Rung::precise ? std::min(128, precision_limit) : std::min(240, precision_limit);
  const Mpfr value = exact(at.position, at.pair, at.function, static_cast<unsigned>(bits));
  const double bound = std::ldexp(scale, 1 - bits);
  const auto narrow = [](const Mpfr& x) {
    const auto hi = x.convert_to<double>();
    return Wide{hi, Mpfr(x - hi).convert_to<double>()};
  };
  const Wide value_wide = narrow(value), distance_wide = narrow(abs(Mpfr(got - value)));
  return {value_wide,
          bound + std::fabs(value_wide.hi) * 0x1p-105,
          {distance_wide, bound + std::fabs(distance_wide.hi) * 0x1p-105}};
}

std::pair<double, bool> Oracle::State::rounded(const Place& at, const Format& format, Rung first) const {
  if (at_rest(at)) first = Rung::exact;
  for (Rung rung = first; rung <= Rung::limit; rung = static_cast<Rung>(static_cast<int>(rung) + 1)) {
    const Look truth = look(rung, at, 0);
    if (const auto value = certain_rounding(truth.value, truth.bound, format)) return {*value, true};
    if (rung == Rung::exact || rung == Rung::limit) break;
  }
  const Wide best = at_rest(at) ? look(Rung::exact, at, 0).value : wide(at.position, at.pair, at.function);
  const auto value = certain_rounding(best, 0, format);
  return {value.value_or(best.hi), false};
}

void Oracle::State::record(Tally& tally, const Place& at, double got, double ulp) const {
  Errors& octave = tally.octaves[static_cast<std::size_t>(octave_of(at.position))];
  if (ulp < octave.max_ulp) return;
  octave.max_ulp = ulp;
  tally.offer_worst({at.position, static_cast<std::int64_t>(at.pair), at.function, got, 0, ulp});
}

// Keeps the largest distance, as the double nearest to it: one that an enclosure cannot place goes up.
void Oracle::State::record_distance(Errors& octave, const Place& at, double got,
                                    const Enclosure& known) const {
  if (known.value.hi + known.bound < octave.max_abs) return;
  if (const auto value = certain_double(known)) {
    octave.max_abs = std::max(octave.max_abs, *value);
    return;
  }
  for (const Rung rung : {Rung::wide, Rung::precise, Rung::limit}) {
    const Look truth = look(at_rest(at) ? Rung::exact : rung, at, got);
    const auto value = certain_double(truth.distance);
    if (!value && rung != Rung::limit) continue;
    octave.max_abs = std::max(octave.max_abs, value.value_or(truth.distance.value.hi));
    return;
  }
}

void Oracle::State::settle(Tally& tally, const Place& at, double got, const Format& format,
                           Rung first) const {
  Errors& octave = tally.octaves[static_cast<std::size_t>(octave_of(at.position))];
  if (std::isnan(got)) {
    ++octave.nan;
    ++octave.not_correctly_rounded;
    tally.offer_nan({at.position, static_cast<std::int64_t>(at.pair), at.function, got, 0, got});
    return;
  }
  if (std::isinf(got)) {
    if (rounded(at, format, first).first == got) return record(tally, at, got, 0);
    ++octave.not_correctly_rounded;
    octave.sum += UlpSum::from_ulp(INFINITY);
    octave.max_abs = INFINITY;
    return record(tally, at, got, INFINITY);
  }
  if (at_rest(at)) first = Rung::exact;
  for (Rung rung = first; rung <= Rung::limit; rung = static_cast<Rung>(static_cast<int>(rung) + 1)) {
    const Look truth = look(rung, at, got);
    const auto spacing = certain_spacing(truth.value, truth.bound, format);
    const auto verdict = spacing ? judge(truth.distance, *spacing) : std::nullopt;
    if (!verdict) {
      if (rung == Rung::exact) break;
      continue;
    }
    octave.sum += UlpSum::from_ulp(verdict->ulp);
    octave.not_correctly_rounded += verdict->correctly_rounded ? 0 : 1;
    record(tally, at, got, verdict->ulp);
    return record_distance(octave, at, got, truth.distance);
  }
  ++octave.undecided;
}

// Calls visit(tile, position of its first row as a magnitude, sign, block) for the moving pairs of all
// positions but 0; a tile lies within one octave.
template <class Visit>
void Oracle::State::for_each_tile(std::int64_t first, std::int64_t count, Visit visit) const {
  const std::size_t plane = tables.width();
  const AlignedDoubles section(4 * plane * tables.blocks()), product(4 * plane);
  const auto sweep = [&](std::uint64_t begin, std::uint64_t end, int sign) {
    std::uint64_t laid = ~std::uint64_t{0};
    while (begin < end) {
      const std::uint64_t block_end = (begin / Tables::kFineRows + 1) * Tables::kFineRows;
      const std::uint64_t stop = std::min({end, block_end, std::bit_ceil(begin + 1)});
      if (const std::uint64_t i = begin / Tables::kSection; i != laid)
        tables.section(laid = i, section.data());
      for (std::size_t block = 0; block < tables.blocks(); ++block) {
        if (tables.idle(block)) continue;
        lanes->multiply(tables.section_row(section.data(), block),
                        tables.mid_row(block, begin / Tables::kFineRows % Tables::kMidRows), product.data(),
                        plane, plane);
        visit(Tile{{product.data(), product.data() + 2 * plane, plane},
                   tables.fine_row(block, begin % Tables::kFineRows),
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
    sweep(std::max<std::uint64_t>(1, magnitude(std::min<std::int64_t>(end, 1) - 1)), magnitude(first) + 1,
          -1);
  if (end > 1)
    sweep(static_cast<std::uint64_t>(std::max<std::int64_t>(first, 1)), static_cast<std::uint64_t>(end), 1);
}

// Pairs [begin, end) where m w = 0. Rows in which all values are the nearest ones, the usual case, are
// counted and judged once per octave.
template <class Bits>
void Oracle::State::check_at_rest(Tally& tally, std::int64_t first, std::int64_t count, std::size_t begin,
                                  std::size_t end, const Format& format, const TableView<const Bits>& cos,
                                  const TableView<const Bits>& sin) const {
  const Codec<Bits> codec{storage_of(format)};
  const double nearest = rounded({0, begin, Function::cos}, format, Rung::exact).first;
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
  });
}

Oracle::Oracle(const Rope& rope, std::int64_t seq_len, std::int64_t begin, std::int64_t end,
               OracleOptions options) {
  const WorkingDigits scope(kSeedDigits);
  Frequencies<Mpfr> exact = frequencies<Mpfr>(rope, seq_len);
  state_ = State::make(std::move(exact.inv_freq), exact.attention_factor, begin, end, options);
}

Oracle Oracle::from_stored(std::span<const float> inv_freq, double attention_factor, std::int64_t begin,
                           std::int64_t end, OracleOptions options) {
  const WorkingDigits scope(kSeedDigits);
  std::vector<Mpfr> exact(inv_freq.begin(), inv_freq.end());
  return Oracle(State::make(std::move(exact), Mpfr(attention_factor), begin, end, options));
}

Oracle::Oracle(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;

std::vector<std::string_view> Oracle::targets() {
  std::vector<std::string_view> names;
  for (const Lanes* lanes : supported_lanes()) names.push_back(lanes->name);
  return names;
}

std::int64_t Oracle::pairs() const { return static_cast<std::int64_t>(state_->pairs()); }
double Oracle::attention_factor() const { return state_->factor_double; }
double Oracle::bound() const {
  return std::max(proved_rows_bound(state_->bounds.table, state_->bounds.scale), state_->phase_bound);
}
double Oracle::wide_bound() const { return state_->integers_bound; }

// y = x0 c - x1 s: the errors of c and s cost (|x0| + |x1|) bound <= sqrt(2) |x| bound, the products round by
// 2^-53 (|x0 c| + |x1 s|) <= 2^-53 |x| A, their sum by as much; products of floats do not underflow.
double Oracle::rotation_bound() const {
  return (1.41421356237310 * bound() + 0x1p-52 * state_->factor_double) * (1 + 0x1p-40);
}

void Oracle::row(std::int64_t position, double* cos, double* sin) const {
  check_range(position, 1);
  for (std::size_t pair = 0; pair < state_->pairs(); ++pair) {
    const CosSin value = state_->phase_pair(position, pair);
    cos[pair] = value.cos;
    sin[pair] = value.sin;
  }
}

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

Oracle::WidePair Oracle::wide(std::int64_t position, std::int64_t pair) const {
  check_range(position, 1);
  const auto index = static_cast<std::size_t>(pair);
  return {state_->wide(position, index, Function::cos), state_->wide(position, index, Function::sin)};
}

void Oracle::rotate(std::int64_t position, int direction, const float* a, const float* b, double* a_out,
                    double* b_out) const {
  check_range(position, 1);
  for (std::size_t pair = 0; pair < state_->pairs(); ++pair) {
    const CosSin value = state_->phase_pair(direction < 0 ? -position : position, pair);
    const double x = a[pair], y = b[pair];
    a_out[pair] = x * value.cos - y * value.sin;
    b_out[pair] = y * value.cos + x * value.sin;
  }
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
                             .first;
  return tally;
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

ExactPair OracleAccess::exact(const Oracle& oracle, std::int64_t position, std::int64_t pair, unsigned bits) {
  const auto index = static_cast<std::size_t>(pair);
  return {oracle.state_->exact(position, index, Function::cos, bits),
          oracle.state_->exact(position, index, Function::sin, bits)};
}

Oracle OracleAccess::make(std::vector<Mpfr> inv_freq, const Mpfr& attention_factor, std::int64_t begin,
                          std::int64_t end, OracleOptions options) {
  return Oracle(Oracle::State::make(std::move(inv_freq), attention_factor, begin, end, options));
}

}  // namespace sextant
