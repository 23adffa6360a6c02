// yarn_ramp: for s >= 1, beta_fast > beta_slow and a range low < high after clamping, w' lies
// in [w/s, w], is w where a pair makes at least beta_fast rotations over the original length and w/s where it
// makes at most beta_slow, and w'/w never rises with the pair. Degenerate ranges: w' lies between the least
// and the greatest of w and w/s, and equals HuggingFace's row (the reversed ramp). Teeth: swapped betas, the
// ramp on the wrong side, the range from the current instead of the original length, a missing floor or ceil.
// Blind to the attention factor (yarn_temperature). Slack: the contract's bound e' of w'; the exact w stands
// for the plain frequency. Rotations are counted in double, and pairs within 1e-9 of a beta are left to the
// exact row.
#include <numbers>

#include "sextant/props/frequency_law.hpp"
#include "sextant/reference/rope/yarn.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Yarn>(trial.c)) return unsupported("the encoding has no yarn scaling");
  FrequencyPair f(trial);
  const auto& yarn = std::get<scaling::Yarn>(f.scaled.scaling);
  const double scale = yarn.factor
                           ? *yarn.factor
                           : static_cast<double>(*yarn.max_position) / static_cast<double>(yarn.original);
  const YarnRamp ramp = decide_yarn_ramp(f.scaled, yarn);
  const bool proper =
      f.scaled.theta > 1 && scale >= 1 && yarn.beta_fast > yarn.beta_slow && ramp.order > 0 && !ramp.widened;
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Wide got = f.got.inv_freq[i];
    const Wide kept = f.want_plain.inv_freq[i];
    const Wide divided = Wide(kept.value() / scale);
    const double slack = f.bounds.frequency_output(k) + kept.value() / scale * 0x1p-50;
    const bool shrinks = scale >= 1;
    f.judge_side(k, -1, got, shrinks ? kept : divided, slack, "at most the greater of w and w/s");
    f.judge_side(k, +1, got, shrinks ? divided : kept, slack, "at least the lesser of w and w/s");
    f.judge(k, got, f.want.inv_freq[i], f.bounds.frequency_output(k), "inv_freq");
    if (!proper) continue;
    const double rotations = static_cast<double>(yarn.original) * kept.value() / (2 * std::numbers::pi);
    if (rotations > yarn.beta_fast * (1 + 1e-9))
      f.judge(k, got, kept, slack, "untouched above beta_fast rotations");
    if (rotations < yarn.beta_slow * (1 - 1e-9))
      f.judge(k, got, divided, slack, "w/s below beta_slow rotations");
    f.judge_fall(k, got.value() / kept.value(), slack / kept.value());
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law yarn_ramp() {
  Law law;
  law.id = "yarn_ramp";
  law.title =
      "YaRN: w' in [w/s, w], untouched above beta_fast rotations, w/s below beta_slow, a monotone ramp "
      "between";
  law.blind_to = "the attention factor (yarn_temperature)";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        const std::optional<Rope> scaled = with_yarn(rope, context, draw);
        if (!scaled) return std::nullopt;
        return frequency_space(*scaled, context);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
