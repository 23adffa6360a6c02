// Equality by integer powers: each scheme's frequency as r * prod b_j^(p_j/q).
#include "sextant/reference/symbolic.hpp"

#include <cmath>
#include <numeric>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/rope/llama3.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {
namespace {

constexpr double kMaxBits = 0x1p26;

/// base^(numerator/denominator)
struct Power {
  Rational base;
  std::int64_t numerator, denominator;
};

double bits_of(const Rational& value) {
  return static_cast<double>(msb(abs(numerator(value)) + 1) + msb(denominator(value)) + 2);
}

Rational raise(const Rational& base, std::int64_t exponent) {
  if (bits_of(base) * static_cast<double>(std::abs(exponent)) > kMaxBits) {
    throw Undecided("an exact tie could not be excluded: its powers exceed 2^26 bits");
  }
  const auto n = static_cast<unsigned>(std::abs(exponent));
  const boost::multiprecision::mpz_int top = pow(numerator(base), n);
  const boost::multiprecision::mpz_int bottom = pow(denominator(base), n);
  return exponent < 0 ? Rational(bottom, top) : Rational(top, bottom);
}

/// value = coefficient * prod powers, all positive.
bool equals(const Rational& value, const Rational& coefficient, const std::vector<Power>& powers) {
  std::int64_t common = 1;
  for (const Power& power : powers) {
    common = std::lcm(common, power.denominator / std::gcd(power.numerator, power.denominator));
  }
  Rational right = 1;
  for (const Power& power : powers) {
    const std::int64_t divisor = std::gcd(power.numerator, power.denominator);
    right *= raise(power.base, common / (power.denominator / divisor) * (power.numerator / divisor));
  }
  return raise(value / coefficient, common) == right;
}

Rational exact(double value) { return Rational(value); }

/// Coefficient of theta^(-2i/d) in YaRN where the ramp is rational: g/s + 1 - g.
std::optional<Rational> yarn_coefficient(const Rope& rope, const scaling::Yarn& yarn, std::int64_t pair) {
  const YarnRamp ramp = decide_yarn_ramp(rope, yarn);
  const Rational scale = yarn.factor ? exact(*yarn.factor) : Rational(*yarn.max_position) / yarn.original;
  switch (ramp.bands[static_cast<std::size_t>(pair)]) {
    case Band::kept:
      return 1;
    case Band::interpolated:
      return 1 / scale;
    case Band::ramp:
      break;
  }
  if (!ramp.low.integer || !ramp.high.integer) return std::nullopt;
  const Rational low = *ramp.low.integer;
  const Rational high = *ramp.high.integer + (ramp.widened ? Rational(1, 1000) : Rational(0));
  const Rational g = (pair - low) / (high - low);
  return g / scale + 1 - g;
}

}  // namespace

bool inv_freq_equals(const Rope& rope, std::int64_t seq_len, std::int64_t pair, const Rational& value) {
  const Rational theta = exact(rope.theta);
  const Power plain{theta, -2 * pair, rope.dim};
  const auto stretched = [&](const Rational& stretch) {
    return equals(value, 1, {plain, {stretch, -2 * pair, rope.dim - 2}});
  };
  struct Visitor {
    const Rope& rope;
    std::int64_t seq_len, pair;
    const Rational& value;
    const Power& plain;
    const decltype(stretched)& with_stretch;

    bool operator()(const scaling::None&) const { return equals(value, 1, {plain}); }
    bool operator()(const scaling::Linear& s) const { return equals(value, 1 / exact(s.factor), {plain}); }
    bool operator()(const scaling::Ntk& s) const { return with_stretch(exact(s.factor)); }
    bool operator()(const scaling::Alpha& s) const { return with_stretch(exact(s.alpha)); }
    bool operator()(const scaling::Dynamic& s) const {
      if (seq_len <= s.max_position) return equals(value, 1, {plain});
      return with_stretch(exact(s.factor) * seq_len / s.max_position - (exact(s.factor) - 1));
    }
    bool operator()(const scaling::Yarn& s) const {
      const std::optional<Rational> coefficient = yarn_coefficient(rope, s, pair);
      return coefficient && equals(value, *coefficient, {plain});
    }
    bool operator()(const scaling::Llama3& s) const {
      const Band band = decide_llama3_bands(rope, s)[static_cast<std::size_t>(pair)];
      return band != Band::ramp &&
             equals(value, band == Band::kept ? Rational(1) : 1 / exact(s.factor), {plain});
    }
    bool operator()(const scaling::LongRope& s) const {
      const std::vector<double>& list = seq_len > s.original ? s.long_factor : s.short_factor;
      return equals(value, 1 / exact(list[static_cast<std::size_t>(pair)]), {plain});
    }
    bool operator()(const scaling::Proportional& s) const {
      return equals(value, 1 / exact(s.factor), {plain});
    }
  };
  return std::visit(Visitor{rope, seq_len, pair, value, plain, stretched}, rope.scaling);
}

bool inv_freq_equals(const Sinusoidal& scheme, std::int64_t pair, const Rational& value) {
  if (scheme.layout == Sinusoidal::Layout::H) return false;  // a multiple of pi
  const auto [numerator, denominator] = ladder_of(scheme);
  const std::int64_t index = pair - axis_of(scheme, pair) * pairs_per_axis(scheme);
  return equals(value, 1, {{exact(scheme.base), -index * numerator, denominator}});
}

bool attention_factor_equals(const Rope& rope, const Rational& value) {
  const auto* longrope = std::get_if<scaling::LongRope>(&rope.scaling);
  if (!longrope || longrope->attention_factor) return false;
  const Rational scale =
      longrope->factor ? exact(*longrope->factor) : Rational(*longrope->max_position) / longrope->original;
  // value^2 = 1 + ln s / ln L  <=>  s^q = L^p with p/q = value^2 - 1.
  const Rational ratio = value * value - 1;
  if (ratio <= 0) return false;
  const double p = numerator(ratio).convert_to<double>();
  const double q = denominator(ratio).convert_to<double>();
  if (p > 0x1p20 || q > 0x1p20)
    return false;  // s^q = L^p with s < 2^1024, L <= 2^40: q divides L's exponents, p is bounded by s
  return raise(scale, static_cast<std::int64_t>(q)) ==
         raise(Rational(longrope->original), static_cast<std::int64_t>(p));
}

}  // namespace sextant
