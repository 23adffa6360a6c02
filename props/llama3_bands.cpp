// llama3_bands: for high > low, pairs of wavelength below L/high keep w, those above L/low get w/s, those
// between lie between, and w'/w never rises with the pair (the ramp is continuous in the wavelength at both
// edges). For high <= low the row is HuggingFace's. Teeth: swapped factors, the current length in place of
// the original, a ramp taken over pairs instead of wavelengths, smooth and 1 - smooth exchanged. Blind to
// nothing of the frequencies; the attention factor is 1. Slack: the contract's bound e' of w'. Wavelengths
// are compared in double, pairs within 1e-9 of an edge left to the exact row.
#include <numbers>

#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Llama3>(trial.c)) return unsupported("the encoding has no llama3 scaling");
  FrequencyPair f(trial);
  const auto& llama3 = std::get<scaling::Llama3>(f.scaled.scaling);
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Wide got = f.got.inv_freq[i];
    const Wide kept = f.want_plain.inv_freq[i];
    const Wide divided = Wide(kept.value() / llama3.factor);
    const double slack = f.bounds.frequency_output(k) + divided.value() * 0x1p-50;
    f.judge(k, got, f.want.inv_freq[i], f.bounds.frequency_output(k), "inv_freq");
    if (llama3.high <= llama3.low || llama3.factor < 1 || f.scaled.theta <= 1) continue;
    const double wavelength = 2 * std::numbers::pi / kept.value();
    const auto length = static_cast<double>(llama3.original);
    if (wavelength < length / llama3.high * (1 - 1e-9))
      f.judge(k, got, kept, slack, "kept: wavelength below L/high");
    if (wavelength > length / llama3.low * (1 + 1e-9))
      f.judge(k, got, divided, slack, "w/s: wavelength above L/low");
    f.judge_side(k, -1, got, kept, slack, "at most w");
    f.judge_side(k, +1, got, divided, slack, "at least w/s");
    f.judge_fall(k, got.value() / kept.value(), slack / kept.value());
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law llama3_bands() {
  Law law;
  law.id = "llama3_bands";
  law.title = "Llama 3 scaling: w kept at short wavelengths, w/s at long ones, a monotone ramp between";
  law.blind_to = "rotation and tables (rope_elementwise)";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        Rope scaled = rope;
        if (std::holds_alternative<scaling::None>(scaled.scaling)) {
          scaled.scaling = scaling::Llama3{drawn_factor(draw), 1, draw % 2 == 0 ? 4.0 : 8.0, context};
        }
        if (!std::holds_alternative<scaling::Llama3>(scaled.scaling)) return std::nullopt;
        return frequency_space(scaled, context);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
