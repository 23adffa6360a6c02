// yarn_temperature: the attention factor A (0.1 ln s + 1, or what mscale and attention_factor make of it in
// the documented order) multiplies q and k both, so that the rotated part of every logit carries A^2. Teeth:
// A left out, applied once, applied twice, applied to q only, the wrong order of precedence. Blind to angles:
// at equal positions they cancel. Slack: <K(m)q, K(m)k> = A^2 <q,k> for any angles that q and k share, so
// only the arithmetic error E of the rotated pairs stays: E_q A|k| + A|q| E_k + E_q E_k
// (rope_relative_offset.cpp).
#include <cmath>

#include "sextant/props/frequency_law.hpp"

namespace sextant {
namespace {

Outcome check_frequencies(const Trial& trial) {
  FrequencyPair f(trial);
  const Wide want = f.want.attention_factor;
  const double ulp = ulp_of(want.value(), kFloat32);
  const double error = std::fabs((Wide(f.got.attention_factor) - want).value());
  f.measure.take(std::isfinite(f.got.attention_factor) ? error / ulp : INFINITY,
                 f.bounds.attention_factor_output() / ulp,
                 {trial.c.seq_len - 1, 0, "attention_factor", f.got.attention_factor, want.value()});
  return judged(std::move(f.measure));
}

Outcome check_rotate(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const Wide square = rows.frequencies().attention_factor * rows.frequencies().attention_factor;
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  Measure measure;
  measure.unit = "abs";
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t s = 0; s < c.tokens(); ++s) {
      const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
      const ExactRow& row = rows.at(position);
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const std::int64_t kv_head = h / (c.heads / c.kv_heads);
        const float *x = q.in_head(b, s, h), *y = q.out_head(b, s, h);
        const float *z = k.in_head(b, s, kv_head), *w = k.out_head(b, s, kv_head);
        Wide got, want;
        double bound = 0, size = 0;
        for (std::int64_t p = 0; p < rope.pairs(); ++p) {
          const PairChannels at = pair_channels(rope.pairing, rope.dim, p);
          got = got + two_product(y[at.out_a], w[at.out_a]) + two_product(y[at.out_b], w[at.out_b]);
          want = want + two_product(x[at.in_a], z[at.in_a]) + two_product(x[at.in_b], z[at.in_b]);
          const PairTruth q_truth = pair_truth(rope, row, bounds, position, p, x);
          const PairTruth k_truth = pair_truth(rope, row, bounds, position, p, z);
          const double q_error = rotation_error(bounds, q_truth);
          const double k_error = rotation_error(bounds, k_truth);
          size += q_truth.norm * k_truth.norm;
          bound += q_error * k_truth.norm + q_truth.norm * k_error + q_error * k_error;
        }
        if (size > 0 && !(bound < kNoClaim * size)) {
          measure.skip();
          continue;
        }
        const Wide exact = want * square;
        const double error = std::fabs((got - exact).value());
        measure.take(std::isfinite(got.hi) ? error : INFINITY, bound * (1 + 0x1p-40),
                     {position, h, "score", got.value(), exact.value()});
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law yarn_temperature() {
  Law law;
  law.id = "yarn_temperature";
  law.title =
      "YaRN: the attention factor is on q and on k, so the rotated part of every logit carries its square";
  law.blind_to = "angles: at equal positions they cancel";
  law.operations = {Operation::rotate, Operation::frequencies};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        const std::optional<Rope> scaled = with_yarn(rope, context, draw);
        if (!scaled) return std::nullopt;
        CaseSpace space = space_of(*scaled, context);
        space.max_tokens = 4;
        space.bounded_inputs = true;
        return space;
      });
  law.check = [](const Trial& trial) {
    return trial.operation == Operation::frequencies ? check_frequencies(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
