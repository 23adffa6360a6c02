// What the laws of context extension share: a scaled encoding beside its plain one, judged on `frequencies`.
#pragma once
#include <cmath>

#include "sextant/props/call.hpp"
#include "sextant/reference/distance.hpp"

namespace sextant {

template <class ScalingType>
[[nodiscard]] bool has_scaling(const Case& c) {
  return std::holds_alternative<ScalingType>(std::get<Rope>(*c.encoding).scaling);
}

/// A RoPE with its scaling taken off.
[[nodiscard]] inline Rope without_scaling(Rope rope) {
  rope.scaling = scaling::None{};
  return rope;
}

/// A scale factor for a default RoPE that a law stretches, by draw: whole and fractional ones.
[[nodiscard]] inline double drawn_factor(std::uint64_t draw) {
  constexpr double kFactors[] = {4, 2, 8, 1.5, 32, 2.5, 16, 40, 1, 64};
  return kFactors[draw % std::size(kFactors)];
}

/// The encoding of a law of YaRN: the given one, or a default RoPE stretched by draw; nothing where it has
/// another scaling.
[[nodiscard]] inline std::optional<Rope> with_yarn(Rope rope, std::int64_t context, std::uint64_t draw) {
  if (std::holds_alternative<scaling::None>(rope.scaling) && rope.theta > 1) {
    scaling::Yarn yarn;
    yarn.factor = drawn_factor(draw);
    yarn.original = context;
    yarn.truncate = draw % 3 != 0;
    if (draw % 4 == 1) yarn.mscale = 1;
    if (draw % 4 == 1) yarn.mscale_all_dim = 0.707;
    if (draw % 4 == 2) yarn.attention_factor = 1.2;
    rope.scaling = yarn;
  }
  return std::holds_alternative<scaling::Yarn>(rope.scaling) ? std::optional(rope) : std::nullopt;
}

/// A space of cases for `frequencies`: one token, whose position fixes the current length.
[[nodiscard]] inline CaseSpace frequency_space(Rope rope, std::int64_t context) {
  CaseSpace space = space_of(std::move(rope), context);
  space.max_tokens = 1;
  return space;
}

/// What a kernel gives at one current length, and what it should.
struct FrequenciesAt {
  KernelFrequencies got;
  const ExactFrequencies& want;
  const Bounds& bounds;

  FrequenciesAt(const Trial& t, const Rope& rope, std::int64_t seq_len)
      : got(kernel_frequencies(t.kernel, rope, seq_len)),
        want(t.truths.rows(rope, seq_len).frequencies()),
        bounds(t.truths.bounds(t.contract, rope, seq_len)) {}
};

/// Frequencies of a scaled encoding and of its plain one, from the kernel and exactly, with the contract's
/// bounds.
struct FrequencyPair {
  const Trial& trial;
  Rope scaled, plain;
  KernelFrequencies got, got_plain;
  const ExactFrequencies &want, &want_plain;
  const Bounds &bounds, &bounds_plain;
  Measure measure;

  explicit FrequencyPair(const Trial& t)
      : FrequencyPair(t, std::get<Rope>(*t.c.encoding), without_scaling(std::get<Rope>(*t.c.encoding))) {}
  FrequencyPair(const Trial& t, Rope scaled_rope, Rope plain_rope)
      : trial(t),
        scaled(std::move(scaled_rope)),
        plain(std::move(plain_rope)),
        got(kernel_frequencies(t.kernel, scaled, t.c.seq_len)),
        got_plain(kernel_frequencies(t.kernel, plain, t.c.seq_len)),
        want(t.truths.rows(scaled, t.c.seq_len).frequencies()),
        want_plain(t.truths.rows(plain, t.c.seq_len).frequencies()),
        bounds(t.truths.bounds(t.contract, scaled, t.c.seq_len)),
        bounds_plain(t.truths.bounds(t.contract, plain, t.c.seq_len)) {
    measure.unit = "ulp";
  }

  /// |got - want| <= bound for the frequency of one pair, in float32 ulp of `want`.
  void judge(std::int64_t pair, const Wide& got_value, const Wide& want_value, double bound,
             const char* statement) {
    if (overflows(want_value)) return measure.skip();
    const double ulp = ulp_of(want_value.value(), kFloat32);
    const double error = std::fabs((got_value - want_value).value());
    measure.take(std::isfinite(got_value.hi) ? error / ulp : INFINITY, bound * (1 + 0x1p-40) / ulp,
                 {trial.c.seq_len - 1, pair, statement, got_value.value(), want_value.value()});
  }
  /// w'/w never rises from one pair to the next, within the slack of both. Called for every pair in order.
  void judge_fall(std::int64_t pair, double ratio, double slack) {
    if (pair > 0) judge_side(pair, -1, ratio, ratio_before_, slack + slack_before_, "w'/w does not rise");
    ratio_before_ = ratio;
    slack_before_ = slack;
  }
  /// got >= want - bound (sign +1) or got <= want + bound (sign -1).
  void judge_side(std::int64_t pair, int sign, const Wide& got_value, const Wide& want_value, double bound,
                  const char* statement) {
    if (overflows(want_value)) return measure.skip();
    const double over = sign > 0 ? (want_value - got_value).value() : (got_value - want_value).value();
    const double ulp = ulp_of(want_value.value(), kFloat32);
    measure.take(std::isfinite(got_value.hi) ? std::max(0.0, over) / ulp : INFINITY,
                 bound * (1 + 0x1p-40) / ulp,
                 {trial.c.seq_len - 1, pair, statement, got_value.value(), want_value.value()});
  }

 private:
  /// float32 does not hold it: the contract says nothing.
  [[nodiscard]] static bool overflows(const Wide& want) {
    return !(std::fabs(want.value()) <= kFloat32.largest);
  }

  double ratio_before_ = 0;
  double slack_before_ = 0;
};

}  // namespace sextant
