// ntk_frequency_ratios: the NTK-aware base change gives w'_k / w_k = s^(-2k/(d-2)): 1 at pair 0, 1/s at the
// last pair, strictly falling for s > 1, the identity at s = 1. Teeth: the exponent d/d, (d-2)/d or 1 in
// place of d/(d-2), the factor applied to positions, the head dim in place of the rotary width. Blind to
// faults of the plain frequencies. Slack: |w'~ - rho w~| <= e' + rho e with rho = w'/w exact, e' and e the
// contract's bounds; strict fall within e'/w' + e/w.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Ntk>(trial.c) && !has_scaling<scaling::Alpha>(trial.c)) {
    return unsupported("the encoding has no ntk or alpha scaling");
  }
  FrequencyPair f(trial);
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double plain = f.want_plain.inv_freq[i].value();
    const double ratio = f.want.inv_freq[i].value() / plain;
    const double bound = f.bounds.frequency_output(k) + ratio * f.bounds_plain.frequency_output(k);
    // w'~ w against w~ w': no division, relative error 2^-102.
    const Wide got = Wide(f.got.inv_freq[i]) * f.want_plain.inv_freq[i];
    const Wide want = Wide(f.got_plain.inv_freq[i]) * f.want.inv_freq[i];
    f.judge(k, got, want, bound * plain, "inv_freq ratio");
    f.judge(k, f.got.inv_freq[i], f.want.inv_freq[i], f.bounds.frequency_output(k), "inv_freq");
    if (k == 0) continue;
    const double before = f.want.inv_freq[i - 1].value() / f.want_plain.inv_freq[i - 1].value();
    const double got_ratio = double{f.got.inv_freq[i]} / f.got_plain.inv_freq[i];
    const double got_before = double{f.got.inv_freq[i - 1]} / f.got_plain.inv_freq[i - 1];
    const auto relative = [&](std::int64_t pair) {
      const auto j = static_cast<std::size_t>(pair);
      return f.bounds.frequency_output(pair) / f.want.inv_freq[j].value() +
             f.bounds_plain.frequency_output(pair) / f.want_plain.inv_freq[j].value();
    };
    // Falling for s > 1, rising for s < 1: the sign of the exact step, kept within both ratios' slack.
    const int sign = ratio < before ? -1 : ratio > before ? 1 : 0;
    if (sign != 0) {
      f.judge_side(k, sign, got_ratio, got_before,
                   (relative(k) * ratio + relative(k - 1) * before) * (1 + 0x1p-20), "ratio step");
    }
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law ntk_frequency_ratios() {
  Law law;
  law.id = "ntk_frequency_ratios";
  law.title = "NTK-aware base change: w'_k / w_k = s^(-2k/(d-2)), 1 at pair 0 and 1/s at the last";
  law.blind_to = "faults of the plain frequencies that both sides share";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (rope.dim <= 2) return std::nullopt;
        Rope scaled = rope;
        if (std::holds_alternative<scaling::None>(scaled.scaling))
          scaled.scaling = scaling::Ntk{drawn_factor(draw)};
        const bool speaks = std::holds_alternative<scaling::Ntk>(scaled.scaling) ||
                            std::holds_alternative<scaling::Alpha>(scaled.scaling);
        if (!speaks) return std::nullopt;
        return frequency_space(scaled, context);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
