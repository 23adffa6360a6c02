// rope_convention_equivalence: with (Px)_k = x_2k and (Px)_(k+n) = x_(2k+1), half = P interleaved P^T on the
// rotary width, and deinterleave = P interleaved. Teeth: a pairing whose sign, partner or table column
// differs from the other's. Blind to faults that all pairings share. Kernels that claim bits must agree bit
// for bit; others within the bounds of both sides.
#include <cmath>
#include <cstring>

#include "sextant/props/rotation_law.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// P on the rotary width of every head, the tail as it is.
void permute(const Rope& rope, std::vector<float>& data) {
  std::vector<float> head(static_cast<std::size_t>(rope.dim));
  for (std::size_t base = 0; base < data.size(); base += static_cast<std::size_t>(rope.head_dim)) {
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      head[static_cast<std::size_t>(i)] = data[base + static_cast<std::size_t>(2 * i)];
      head[static_cast<std::size_t>(i + rope.pairs())] = data[base + static_cast<std::size_t>(2 * i + 1)];
    }
    std::copy(head.begin(), head.end(), data.begin() + static_cast<std::ptrdiff_t>(base));
  }
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  Rope interleaved = std::get<Rope>(*c.encoding);
  interleaved.pairing = Pairing::interleaved;
  Rope half = interleaved;
  half.pairing = Pairing::half;
  Rope deinterleave = interleaved;
  deinterleave.pairing = Pairing::deinterleave;
  for (const Rope& rope : {interleaved, half}) {
    Case with = c;
    with.encoding = rope;
    if (std::optional<std::string> reason = why_not(trial.kernel, Operation::rotate, with))
      return unsupported(*reason);
  }
  ExactRows& rows = trial.truths.rows(interleaved, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, interleaved, c.seq_len);

  const Heads q = make_heads(c, 0);
  const Heads k = make_heads(c, 1);
  Heads q_want = q;
  Heads k_want = k;
  rotate_heads(trial.kernel, c, interleaved, 0, q_want, k_want);
  permute(interleaved, q_want.out);
  permute(interleaved, k_want.out);

  Measure measure;
  measure.unit = trial.contract.bits_exact ? "count" : "pair_ulp";
  const auto compare = [&](const Heads& got, const Heads& want) {
    for (std::int64_t b = 0; b < got.batch; ++b) {
      for (std::int64_t s = 0; s < got.tokens; ++s) {
        const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
        for (std::int64_t h = 0; h < got.heads; ++h) {
          const float* ours = got.out_head(b, s, h);
          const float* theirs = want.out_head(b, s, h);
          for (std::int64_t i = 0; i < interleaved.pairs(); ++i) {
            const PairTruth truth =
                pair_truth(interleaved, rows.at(position), bounds, position, i, want.in_head(b, s, h));
            const auto judge = [&](std::int64_t channel, const Wide& y, const Wide& partner,
                                   double arithmetic, const char* function) {
              const Witness witness{position, i, function, ours[channel], theirs[channel]};
              if (trial.contract.bits_exact) {
                measure.take(std::memcmp(ours + channel, theirs + channel, sizeof(float)) == 0 ? 0 : 1, 0,
                             witness);
                return;
              }
              const ElementBound bound =
                  bounds.rotated(truth.at, arithmetic, y.value(), partner.value(), truth.norm);
              if (!bound.claim || truth.norm > bounds.largest_norm()) return measure.skip();
              const double unit = pair_unit(truth.norm, bounds.output());
              const double error = std::fabs(double{ours[channel]} - double{theirs[channel]});
              measure.take(std::isfinite(error) ? error / unit : INFINITY, 2 * bound.absolute / unit,
                           witness);
            };
            judge(i, truth.y_a, truth.y_b, truth.arithmetic_a, "a");
            judge(i + interleaved.pairs(), truth.y_b, truth.y_a, truth.arithmetic_b, "b");
          }
          for (std::int64_t channel = interleaved.dim; channel < interleaved.head_dim; ++channel) {
            const bool same = std::memcmp(ours + channel, theirs + channel, sizeof(float)) == 0;
            measure.take(same ? 0 : INFINITY, 0, {position, channel, "tail", ours[channel], theirs[channel]});
          }
        }
      }
    }
  };
  const auto run = [&](const Rope& rope, bool permuted_input) {
    Heads q_got = q;
    Heads k_got = k;
    if (permuted_input) {
      permute(rope, q_got.in);
      permute(rope, k_got.in);
    }
    rotate_heads(trial.kernel, c, rope, 0, q_got, k_got);
    compare(q_got, q_want);
    compare(k_got, k_want);
  };
  run(half, true);
  Case with = c;
  with.encoding = deinterleave;
  if (!why_not(trial.kernel, Operation::rotate, with)) run(deinterleave, false);
  return judged(std::move(measure));
}

}  // namespace

Law rope_convention_equivalence() {
  Law law;
  law.id = "rope_convention_equivalence";
  law.title = "half = P interleaved P^T and deinterleave = P interleaved, P the de-interleaving permutation";
  law.blind_to = "faults that all pairings share; a checkpoint permuted by the wrong convention";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    if (rope.dim < 6) return std::nullopt;  // P is an involution at 2 and 4, and cannot tell P from P^T
    CaseSpace space = space_of(rope, context);
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
