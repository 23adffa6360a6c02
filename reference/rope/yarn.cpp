// YaRN (Peng et al. 2023, arXiv 2309.00071), in the reading of HuggingFace modeling_rope_utils.py
// `_compute_yarn_parameters`, whose terms and their order are kept:
//   corr(r) = d ln(L / (2 pi r)) / (2 ln theta), low = corr(beta_fast), high = corr(beta_slow), floor and
//   ceil if truncate; low = max(low, 0), high = min(high, d - 1), high += 1/1000 if low = high; g_i =
//   clamp((i - low) / (high - low), 0, 1), P_i = theta^(2i/d), w_i = g_i / (s P_i) + (1 - g_i) / P_i;
//   attention factor: the explicit one, else m(s, mscale) / m(s, mscale_all_dim) where both are given, else
//   m(s, 1), with m(s, k) = 1 for s <= 1, else 1 + k ln(s) / 10; without factor, s = max_position / original.
#include "sextant/reference/rope/yarn.hpp"

#include <numeric>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {
namespace {

template <class Number>
Number correction(const Rope& rope, const scaling::Yarn& yarn, double rotations) {
  using std::log;
  return Number(rope.dim) *
         log(Number(Number(yarn.original) / (Number(rotations) * Number(2) * pi<Number>()))) /
         (Number(2) * log(Number(rope.theta)));
}

template <class Number>
Number value_of(const RampEnd& end, const Rope& rope, const scaling::Yarn& yarn) {
  return end.integer ? Number(*end.integer) : correction<Number>(rope, yarn, end.beta);
}

template <class Number>
Number scale_of(const scaling::Yarn& yarn) {
  return yarn.factor ? Number(*yarn.factor) : Number(Number(*yarn.max_position) / Number(yarn.original));
}

template <class Number>
Number magnitude(const Number& log_scale, double mscale) {
  return Number(1) / Number(10) * Number(mscale) * log_scale + Number(1);
}

template <class Number>
Number attention_factor(const scaling::Yarn& yarn) {
  using std::log;
  if (yarn.attention_factor) return Number(*yarn.attention_factor);
  const bool grows = yarn.factor ? *yarn.factor > 1 : *yarn.max_position > yarn.original;
  const bool has_pair = yarn.mscale && yarn.mscale_all_dim;
  if (!grows || (has_pair && *yarn.mscale == *yarn.mscale_all_dim)) return Number(1);
  const Number log_scale = log(scale_of<Number>(yarn));
  if (!has_pair) return magnitude(log_scale, 1);
  return magnitude(log_scale, *yarn.mscale) / magnitude(log_scale, *yarn.mscale_all_dim);
}

}  // namespace

/// Termination: corr(r) = k for an integer k would make pi = L / (2 r theta^(2k/d)) algebraic, so every
/// rounding and every comparison with an integer ends; low = high without rounding holds iff beta_fast =
/// beta_slow.
YarnRamp decide_yarn_ramp(const Rope& rope, const scaling::Yarn& yarn) {
  const auto corr = [&](double beta) {
    return [&rope, &yarn, beta] { return correction<Interval>(rope, yarn, beta); };
  };
  const std::int64_t low_floor = floor_of(corr(yarn.beta_fast));
  const std::int64_t high_floor = floor_of(corr(yarn.beta_slow));
  const std::int64_t last = rope.dim - 1;

  YarnRamp ramp;
  ramp.low.beta = yarn.beta_fast;
  ramp.high.beta = yarn.beta_slow;
  if (yarn.truncate) {
    ramp.low.integer = low_floor;
    ramp.high.integer = high_floor + 1;
  }
  if (low_floor < 0) ramp.low.integer = 0;
  if (high_floor >= last) ramp.high.integer = last;

  const auto floor_at = [&](const RampEnd& end, std::int64_t floor) {
    return end.integer ? *end.integer : floor;
  };
  const auto difference = [&] {
    return Interval(value_of<Interval>(ramp.high, rope, yarn) - value_of<Interval>(ramp.low, rope, yarn));
  };
  if (ramp.low.integer && ramp.high.integer) {
    const std::int64_t width = *ramp.high.integer - *ramp.low.integer;
    ramp.widened = width == 0;
    ramp.order = width < 0 ? -1 : 1;
  } else if (!ramp.low.integer && !ramp.high.integer && yarn.beta_fast == yarn.beta_slow) {
    ramp.widened = true;
  } else {
    ramp.order = sign_of(difference);
  }

  const std::int64_t low_at_most = floor_at(ramp.low, low_floor);     // i <= low  <=>  i <= this
  const std::int64_t high_at_most = floor_at(ramp.high, high_floor);  // i <= high <=>  i <= this
  const bool high_is_integer = ramp.high.integer.has_value();
  const bool low_is_integer = ramp.low.integer.has_value();
  for (std::int64_t i = 0; i < rope.pairs(); ++i) {
    if (ramp.widened && i > low_at_most && !low_is_integer) {
      // low and low + 1/1000 may enclose no integer or one: i is past both unless it lies between them.
      const bool past = sign_of([&] {
                          return Interval(Interval(i) - correction<Interval>(rope, yarn, ramp.low.beta) -
                                          Interval(1) / 1000);
                        }) > 0;
      ramp.bands.push_back(past ? Band::interpolated : Band::ramp);
    } else if (ramp.order > 0) {
      const bool reaches_high = ramp.widened      ? i > low_at_most
                                : high_is_integer ? i >= high_at_most
                                                  : i > high_at_most;
      ramp.bands.push_back(i <= low_at_most ? Band::kept : reaches_high ? Band::interpolated : Band::ramp);
    } else {
      const bool reaches_low = low_is_integer ? i >= low_at_most : i > low_at_most;
      ramp.bands.push_back(reaches_low ? Band::kept : i <= high_at_most ? Band::interpolated : Band::ramp);
    }
  }
  return ramp;
}

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Yarn& yarn, std::int64_t) {
  using Number = Scalar<Real>;
  const YarnRamp ramp = decide_yarn_ramp(rope, yarn);
  const Number low = value_of<Number>(ramp.low, rope, yarn);
  Number high = value_of<Number>(ramp.high, rope, yarn);
  if (ramp.widened) high = high + Number(1) / Number(1000);
  const Number scale = scale_of<Number>(yarn);

  std::vector<Real> inv_freq = theta_powers(Real(Number(rope.theta)), rope.dim, rope.pairs());
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    const Real extrapolated = Real(1) / inv_freq[i];
    const Real interpolated = Real(1) / (Real(scale) * inv_freq[i]);
    const Real g = ramp.bands[i] == Band::kept ? Real(0)
                   : ramp.bands[i] == Band::interpolated
                       ? Real(1)
                       : (Real(static_cast<std::int64_t>(i)) - Real(low)) / Real(high - low);
    const Real keep = Real(1) - g;
    inv_freq[i] = interpolated * (Real(1) - keep) + extrapolated * keep;
  }
  return {std::move(inv_freq), Real(attention_factor<Number>(yarn))};
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Yarn);

}  // namespace sextant
