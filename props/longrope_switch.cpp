// longrope_switch: with L the original length, w'_k = w_k / short_k for T <= L and w_k / long_k for T >= L+1,
// and the attention factor does not follow the switch. Teeth: the switch one off or at the longer length, the
// lists swapped, a list by index of the channel, a factor in place of a divisor, an attention factor of 1 for
// short lengths. Blind to faults of the plain frequencies that both sides share. Slack, as in pi_scaling:
// |short_k w'~ - w~| <= short_k e' + e; both attention factors are within the contract's bound.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::LongRope>(trial.c)) return unsupported("the encoding has no longrope scaling");
  FrequencyPair f(trial);
  const auto& longrope = std::get<scaling::LongRope>(f.scaled.scaling);
  const FrequenciesAt edge(trial, f.scaled, longrope.original);
  const FrequenciesAt past(trial, f.scaled, longrope.original + 1);
  const FrequenciesAt here(trial, f.scaled, trial.c.seq_len);
  const auto judge = [&](const FrequenciesAt& at, const std::vector<double>& divisors,
                         const char* statement) {
    for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      f.judge(k, Wide(at.got.inv_freq[i]) * Wide(divisors[i]), f.got_plain.inv_freq[i],
              at.bounds.frequency_output(k) * divisors[i] + f.bounds_plain.frequency_output(k), statement);
      f.judge(k, at.got.inv_freq[i], at.want.inv_freq[i], at.bounds.frequency_output(k), "inv_freq");
    }
    f.judge(0, at.got.attention_factor, at.want.attention_factor, at.bounds.attention_factor_output(),
            "attention_factor");
  };
  const bool is_long = trial.c.seq_len > longrope.original;
  judge(edge, longrope.short_factor, "short list at the original length");
  judge(past, longrope.long_factor, "long list past the original length");
  judge(here, is_long ? longrope.long_factor : longrope.short_factor, "list by the current length");
  f.judge(0, past.got.attention_factor, edge.got.attention_factor,
          past.bounds.attention_factor_output() + edge.bounds.attention_factor_output(),
          "attention_factor on both sides");
  return judged(std::move(f.measure));
}

}  // namespace

Law longrope_switch() {
  Law law;
  law.id = "longrope_switch";
  law.title = "LongRoPE: short divisors up to the original length, long ones past it, one attention factor";
  law.blind_to = "faults of the plain frequencies that both sides share";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        Rope scaled = rope;
        if (std::holds_alternative<scaling::None>(scaled.scaling) && context > 1) {
          scaling::LongRope longrope;
          longrope.original = context;
          longrope.factor = drawn_factor(draw);
          for (std::int64_t k = 0; k < scaled.pairs(); ++k) {
            longrope.short_factor.push_back(1 + static_cast<double>(k % 16) / 16);
            longrope.long_factor.push_back(1.5 + static_cast<double>(k));
          }
          scaled.scaling = longrope;
        }
        const auto* longrope = std::get_if<scaling::LongRope>(&scaled.scaling);
        if (!longrope) return std::nullopt;
        // Lengths on both sides of the switch.
        return frequency_space(scaled, 2 * longrope->original);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
