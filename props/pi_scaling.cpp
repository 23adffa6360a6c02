// pi_scaling: position interpolation divides every frequency by the factor, w'_k = w_k / s, so that R_PI(m) =
// R(m/s). Teeth: a factor multiplied, applied to some pairs only, or to the base. Blind to a fault of the
// plain frequencies that both sides share, which rope_elementwise sees. Slack: both stored frequencies are
// within the contract's bounds e', e: |w'~ - w~/s| <= e' + e/s.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Linear>(trial.c)) return unsupported("the encoding has no linear scaling");
  FrequencyPair f(trial);
  const double factor = std::get<scaling::Linear>(f.scaled.scaling).factor;
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    // s w'~ against w~ keeps both sides exact in double-double; scaled back to the size of w'.
    const Wide got = Wide(f.got.inv_freq[i]) * Wide(factor);
    const double bound = f.bounds.frequency_output(k) * factor + f.bounds_plain.frequency_output(k);
    f.judge(k, got, f.got_plain.inv_freq[i], bound, "factor * inv_freq");
    f.judge(k, f.got.inv_freq[i], f.want.inv_freq[i], f.bounds.frequency_output(k), "inv_freq");
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law pi_scaling() {
  Law law;
  law.id = "pi_scaling";
  law.title = "position interpolation: w'_k = w_k / s for every pair";
  law.blind_to = "faults of the plain frequencies that both sides share";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        Rope scaled = rope;
        if (std::holds_alternative<scaling::None>(scaled.scaling))
          scaled.scaling = scaling::Linear{drawn_factor(draw)};
        if (!std::holds_alternative<scaling::Linear>(scaled.scaling)) return std::nullopt;
        return frequency_space(scaled, context);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
