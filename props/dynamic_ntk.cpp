// dynamic_ntk: a fresh encoding changes nothing up to max_position M, is continuous there, and its base grows
// with the current length T: w'_k(T) = w_k for T <= M, w'_k(M) >= w'_k(M+1) >= w'_k(M) / (1 + s/M), w'_k
// never rises with T, and past M the last pair is divided by s T/M - (s-1) while pair 0 stays. Teeth: the
// switch one off, the length left out or taken for M, s T/M without the - (s-1), a base that grows below M.
// Blind to the plain frequencies, and to a history of lengths between calls. Slack: the bounds e' of both
// frequencies compared, times the exact factor where one is applied.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  if (!has_scaling<scaling::Dynamic>(trial.c)) return unsupported("the encoding has no dynamic scaling");
  FrequencyPair f(trial);
  const auto& dynamic = std::get<scaling::Dynamic>(f.scaled.scaling);
  const std::int64_t length = trial.c.seq_len;
  const FrequenciesAt edge(trial, f.scaled, dynamic.max_position);
  const FrequenciesAt past(trial, f.scaled, dynamic.max_position + 1);
  const FrequenciesAt later(trial, f.scaled, 2 * length);
  const auto trained = static_cast<double>(dynamic.max_position);
  const double step = 1 + dynamic.factor / trained;
  for (std::int64_t k = 0; k < f.scaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double here = f.bounds.frequency_output(k);
    const double plain = f.bounds_plain.frequency_output(k);
    const double at_edge = edge.bounds.frequency_output(k);
    const double past_edge = past.bounds.frequency_output(k);
    f.judge(k, f.got.inv_freq[i], f.want.inv_freq[i], here, "inv_freq");
    f.judge(k, edge.got.inv_freq[i], f.got_plain.inv_freq[i], at_edge + plain, "unchanged at max_position");
    if (length <= dynamic.max_position)
      f.judge(k, f.got.inv_freq[i], f.got_plain.inv_freq[i], here + plain, "unchanged below max_position");
    f.judge_side(k, -1, past.got.inv_freq[i], edge.got.inv_freq[i], past_edge + at_edge,
                 "falls past max_position");
    f.judge_side(k, +1, Wide(past.got.inv_freq[i]) * Wide(step), edge.got.inv_freq[i],
                 past_edge * step + at_edge + edge.want.inv_freq[i].value() * 0x1p-50,
                 "continuous at max_position");
    f.judge_side(k, -1, later.got.inv_freq[i], f.got.inv_freq[i], later.bounds.frequency_output(k) + here,
                 "falls with the length");
  }
  if (length > dynamic.max_position) {
    const std::int64_t last = f.scaled.pairs() - 1;
    const auto i = static_cast<std::size_t>(last);
    const double stretch = dynamic.factor * static_cast<double>(length - dynamic.max_position) / trained + 1;
    f.judge(last, Wide(f.got.inv_freq[i]) * Wide(stretch), f.got_plain.inv_freq[i],
            f.bounds.frequency_output(last) * stretch + f.bounds_plain.frequency_output(last) +
                f.want_plain.inv_freq[i].value() * 0x1p-50,
            "the last pair divided by the stretch");
    f.judge(0, f.got.inv_freq[0], f.got_plain.inv_freq[0],
            f.bounds.frequency_output(0) + f.bounds_plain.frequency_output(0), "pair 0 stays");
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law dynamic_ntk() {
  Law law;
  law.id = "dynamic_ntk";
  law.title =
      "dynamic NTK: nothing changes up to max_position, continuous there, the base grows with the length";
  law.blind_to = "faults of the plain frequencies; a history of lengths between calls";
  law.operations = {Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (rope.dim <= 2) return std::nullopt;
        Rope scaled = rope;
        if (std::holds_alternative<scaling::None>(scaled.scaling))
          scaled.scaling = scaling::Dynamic{drawn_factor(draw), context};
        const auto* dynamic = std::get_if<scaling::Dynamic>(&scaled.scaling);
        if (!dynamic) return std::nullopt;
        // Lengths on both sides of the switch.
        return frequency_space(scaled, 4 * dynamic->max_position);
      });
  law.check = check;
  return law;
}

}  // namespace sextant
