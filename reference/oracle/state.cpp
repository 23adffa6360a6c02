#include "sextant/reference/oracle/state.hpp"

#include <cmath>
#include <string>

#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/environment.hpp"
#include "sextant/reference/oracle/seeds.hpp"

namespace sextant {

using namespace oracle;

namespace {

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

const Lanes& find_lanes(std::string_view target) {
  for (const Lanes* lanes : supported_lanes())
    if (target.empty() || lanes->name == target) return *lanes;
  std::string names;
  for (const Lanes* lanes : supported_lanes())
    names += (names.empty() ? "" : ", ") + std::string(lanes->name);
  throw InputError("oracle: target " + std::string(target) + " does not run here; it has " + names);
}

}  // namespace

void oracle::check_range(std::int64_t first, std::int64_t count) {
  if (count < 0 || first < -kMaxPosition || first > kMaxPosition || count > kMaxPosition - first + 1)
    throw InputError("oracle: positions must lie within -2^40 .. 2^40");
}

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
  return std::unique_ptr<const State>(
      new State{std::move(inv_freq), factor, factor_double, fast_two_sum(factor_double, rest), factor_exact,
                scale, std::move(turns), std::move(still_runs), options.precision_limit,
                &find_lanes(options.target), bounds, proved_rows_bound(bounds.table, scale),
                std::max(proved_phase_bound(factor_double, scale), options.table_bound),
                std::max(kWideIntegers * scale, options.wide_bound), std::move(tables)});
}

CosSin Oracle::State::phase_pair(std::int64_t position, std::size_t pair) const {
  if (position == 0 || tables.still(pair)) return {factor_double, 0};
  const CosSin bare = phase(turns[pair], magnitude(position));
  return {factor_double * bare.cos, factor_double * (position < 0 ? -bare.sin : bare.sin)};
}

Wide Oracle::State::wide(const Place& at) const {
  if (at_rest(at)) return at.function == Function::cos ? factor_wide : Wide{};
  const Phasor value = tables.power(at.pair, magnitude(at.position));
  const Wide bare = to_wide(at.function == Function::cos ? value.cos : value.sin);
  const double sign = at.function == Function::sin && at.position < 0 ? -scale : scale;
  return {sign * bare.hi, sign * bare.lo};
}

Mpfr Oracle::State::exact(const Place& at, unsigned bits) const {
  // The angle is good to 2^-240 rad: |position w| <= 2^72, relative 2^-312 or better at 320 bits.
  const WorkingDigits scope(kSeedDigits);
  if (at_rest(at)) return at.function == Function::cos ? factor : Mpfr(0);
  const Mpfr angle = inv_freq[at.pair] * at.position;
  Mpfr value;
  mpfr_set_prec(value.backend().data(), bits + 2);
  const auto call = at.function == Function::cos ? mpfr_cos : mpfr_sin;
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
  if (rung == Rung::wide) return from(wide(at), integers_bound);
  // The distance is formed before it is narrowed. Narrowing errs by 2^-53 of the low word, so that even the
  // cosine of a tiny angle is known to lie below 1; what stays undecided lies within the limit of a boundary.
  const WorkingDigits scope(kSeedDigits);
  const int bits = rung == Rung::precise ? std::min(128, precision_limit) : std::min(240, precision_limit);
  const Mpfr value = exact(at, static_cast<unsigned>(bits));
  const double bound = std::ldexp(scale, 1 - bits);
  const auto narrow = [](const Mpfr& x) {
    const auto hi = x.convert_to<double>();
    return Wide{hi, Mpfr(x - hi).convert_to<double>()};
  };
  const Wide value_wide = narrow(value), distance_wide = narrow(abs(Mpfr(got - value)));
  return {value_wide,
          bound + std::fabs(value_wide.lo) * 0x1p-52,
          {distance_wide, bound + std::fabs(distance_wide.lo) * 0x1p-52}};
}

Oracle::State::Rounded Oracle::State::rounded(const Place& at, const Format& format, Rung first) const {
  if (at_rest(at)) first = Rung::exact;
  for (Rung rung = first; rung <= Rung::limit; rung = static_cast<Rung>(static_cast<int>(rung) + 1)) {
    const Look truth = look(rung, at, 0);
    if (const auto value = certain_rounding(truth.value, truth.bound, format)) return {*value, true};
  }
  return {certain_rounding(wide(at), 0, format).value_or(0), false};
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
    const Look truth = look(rung, at, got);
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
    if (rounded(at, format, first).value == got) return record(tally, at, got, 0);
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
    if (!verdict) continue;
    octave.sum += UlpSum::from_ulp(verdict->ulp);
    octave.not_correctly_rounded += verdict->correctly_rounded ? 0 : 1;
    record(tally, at, got, verdict->ulp);
    return record_distance(octave, at, got, truth.distance);
  }
  ++octave.undecided;
}

}  // namespace sextant
