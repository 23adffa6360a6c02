// Roundings of exact frequencies to fractions of a turn, decided on intervals.
#include "sextant/reference/turns.hpp"

#include <boost/multiprecision/gmp.hpp>
#include <optional>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

using Integer = mp::number<mp::gmp_int, mp::et_off>;

/// The integer nearest to every number of the interval, where there is one.
std::optional<Integer> nearest_integer(const Interval& value) {
  const Mpfr low = floor(Mpfr(lower(value) + 0.5));
  if (low != floor(Mpfr(upper(value) + 0.5))) return std::nullopt;
  return low.convert_to<Integer>();
}

std::optional<TurnFraction> fraction_of(const Interval& turns) {
  const std::optional<Integer> scaled = nearest_integer(Interval(ldexp(turns, 96)));
  if (!scaled) return std::nullopt;
  const Integer high = *scaled >> 32;  // towards minus infinity, as GMP shifts
  return TurnFraction{static_cast<std::uint64_t>(Integer(high & Integer(~std::uint64_t{0}))),
                      static_cast<std::uint32_t>(Integer(*scaled & Integer(0xffffffffU)))};
}

}  // namespace

std::vector<TurnFraction> inv_freq_turns(const Rope& rope, std::int64_t seq_len) {
  return turns_of([&] { return frequencies<Interval>(rope, seq_len).inv_freq; });
}

std::vector<TurnFraction> turns_of(const std::function<std::vector<Interval>()>& enclose) {
  return with_growing_digits("frequency in turns", [&]() -> std::optional<std::vector<TurnFraction>> {
    const Interval radians_per_turn = 2 * pi<Interval>();
    std::vector<TurnFraction> fractions;
    for (const Interval& w : enclose()) {
      const std::optional<TurnFraction> fraction = fraction_of(Interval(w / radians_per_turn));
      if (!fraction) return std::nullopt;
      fractions.push_back(*fraction);
    }
    return fractions;
  });
}

double attention_factor(const Rope& rope, std::int64_t seq_len) {
  return with_growing_digits("attention factor", [&]() -> std::optional<double> {
    const Interval factor = frequencies<Interval>(rope, seq_len).attention_factor;
    const double low = lower(factor).convert_to<double>();
    if (low != upper(factor).convert_to<double>()) return std::nullopt;
    return low;
  });
}

}  // namespace sextant
