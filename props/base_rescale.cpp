// base_rescale: changing theta alone, by a factor r, keeps pair 0 and the ladder: w'_k / w_k = r^(-2k/d),
// falling with k for r > 1, and w'_(k-1) w'_(k+1) = w'_k^2. Teeth: a theta that is fixed, cached from another
// encoding, kept in an integer or in float32, applied to some pairs only, frequencies not from a power of
// theta. Blind to a fault of the exponent that keeps the ladder in the second statement, not in the first.
// Slack: |w'~ - rho w~| <= e' + rho e with rho = w'/w exact; a product of two frequencies errs by w_1 e_2 +
// w_2 e_1 + e_1 e_2.
#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const auto& plain = std::get<Rope>(*trial.c.encoding);
  if (!std::holds_alternative<scaling::None>(plain.scaling)) return unsupported("the encoding has a scaling");
  Rope rescaled = plain;
  rescaled.theta *= drawn_factor(trial.c.seed);
  if (!std::isfinite(rescaled.theta)) return unsupported("theta is too large to be multiplied");
  FrequencyPair f(trial, rescaled, plain);
  const auto w = [&](std::int64_t k) { return f.want.inv_freq[static_cast<std::size_t>(k)].value(); };
  const auto got = [&](std::int64_t k) { return Wide(f.got.inv_freq[static_cast<std::size_t>(k)]); };
  const auto product_error = [&](std::int64_t j, std::int64_t k) {
    const double e_j = f.bounds.frequency_output(j), e_k = f.bounds.frequency_output(k);
    return w(j) * e_k + w(k) * e_j + e_j * e_k;
  };
  for (std::int64_t k = 0; k < rescaled.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double before = f.want_plain.inv_freq[i].value();
    const double ratio = w(k) / before;
    const double error = f.bounds.frequency_output(k), error_before = f.bounds_plain.frequency_output(k);
    // w'~ w against w~ w': no division.
    f.judge(k, got(k) * f.want_plain.inv_freq[i], Wide(f.got_plain.inv_freq[i]) * f.want.inv_freq[i],
            (error + ratio * error_before) * before, "inv_freq ratio");
    f.judge_fall(k, got(k).value() / double{f.got_plain.inv_freq[i]},
                 ratio * (error / w(k) + error_before / before) * (1 + 0x1p-20));
    if (k > 0 && k + 1 < rescaled.pairs())
      f.judge(k, got(k - 1) * got(k + 1), got(k) * got(k), product_error(k - 1, k + 1) + product_error(k, k),
              "geometric ladder");
  }
  return judged(std::move(f.measure));
}

}  // namespace

Law base_rescale() {
  Law law;
  law.id = "base_rescale";
  law.title = "theta alone multiplied by r: w'_k / w_k = r^(-2k/d), pair 0 and the geometric ladder kept";
  law.blind_to = "faults of the plain frequencies that are geometric in the pair and in theta";
  law.operations = {Operation::frequencies};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    if (!std::holds_alternative<scaling::None>(rope.scaling)) return std::nullopt;
    return frequency_space(rope, context);
  });
  law.check = check;
  return law;
}

}  // namespace sextant
