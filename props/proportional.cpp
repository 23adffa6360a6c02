// proportional: the exponent runs over the whole width, w'_k = theta^(-2k/d) / s for the first floor(fraction
// d / 2) pairs, and the other frequencies are exactly 0. Teeth: the exponent over the rotated width (as in a
// partial RoPE), a count that is rounded or counts channels, frequencies past it that are small but not 0, a
// factor left out. Blind to faults of the plain frequencies that both sides share. Slack, as in pi_scaling:
// |s w'~ - w~| <= s e' + e; none for a zero.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Proportional>(trial.c))
    return unsupported("the encoding has no proportional scaling");
  FrequencyPair f(trial);
  const auto& proportional = std::get<scaling::Proportional>(f.scaled.scaling);
  const double rotated = std::floor(proportional.fraction * static_cast<double>(f.scaled.dim) / 2);
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (static_cast<double>(k) >= rotated) {
      f.judge(k, f.got.inv_freq[i], 0, 0, "zero past the fraction");
      continue;
    }
    const Wide got = Wide(f.got.inv_freq[i]) * Wide(proportional.factor);
    f.judge(k, got, f.got_plain.inv_freq[i],
            f.bounds.frequency_output(k) * proportional.factor + f.bounds_plain.frequency_output(k),
            "factor * inv_freq");
    f.judge(k, f.got.inv_freq[i], f.want.inv_freq[i], f.bounds.frequency_output(k), "inv_freq");
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law proportional() {
  Law law;
  law.id = "proportional";
  law.title =
      "proportional RoPE: the exponent runs over the whole width, frequencies past the fraction are 0";
  law.blind_to = "faults of the plain frequencies that both sides share";
  law.operations = {Operation::frequencies};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context,
                          std::uint64_t draw) -> std::optional<CaseSpace> {
    Rope scaled = rope;
    if (std::holds_alternative<scaling::None>(scaled.scaling)) {
      constexpr double kFractions[] = {0.25, 0.5, 0.334, 0.75, 1};
      const double fraction = kFractions[draw % std::size(kFractions)];
      // At least one pair rotates.
      const bool rotates = fraction * static_cast<double>(scaled.dim) >= 2;
      scaled.scaling = scaling::Proportional{rotates ? fraction : 1, draw % 2 == 0 ? 1 : drawn_factor(draw)};
    }
    if (!std::holds_alternative<scaling::Proportional>(scaled.scaling)) return std::nullopt;
    return frequency_space(scaled, context);
  });
  law.check = check;
  return law;
}

}  // namespace sextant
