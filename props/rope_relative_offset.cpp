// rope_relative_offset: <K(m)q, K(n)k> = A^2 <R(m-n)q, k> = <K(m+c)q, K(n+c)k> over the rotary width (Su et
// al. 2021, eq. 16). Teeth: positions that are clamped, wrapped, rounded or shifted on one side, angles that
// are not linear in the position, a factor or a direction that q and k do not share. Blind to equal shifts of
// q and k, and to a wrong base or scale as far as both sides use it: the second equality holds for any
// frequencies.
//
// Slack. Let w~ be the kernel's frequency, e bounds |w~ - w|, rho_m the rounding of the angle at m, E_q the
// arithmetic error of a rotated pair apart from its angle. Score of a pair against the exact one:
//   A^2 |q||k| (|m-n| e + rho_m + rho_n) + E_q A|k| + A|q| E_k + E_q E_k
// since a chord is at most its angle and the angles differ from (m-n) w by (m-n)(w~-w) + roundings. Against
// the shifted score, where the frequency error cancels: A^2 |q||k| (rho_m + rho_n + rho_{m+c} + rho_{n+c}) +
// both arithmetic parts. The sums are formed in double-double from the kernel's outputs: relative error
// 2^-95, inside the bounds' inflation.
#include <cmath>

#include "sextant/props/call.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

struct Score {
  Wide value;
  double arithmetic = 0;  ///< from products, sums, tables
  double rounding = 0;    ///< from the rounding of angles
  double frequency = 0;   ///< from stored frequencies
  double size = 0;        ///< sum of A^2 |q||k|
};

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  Heads q = make_heads(c, 0);
  Heads k = make_heads(c, 1);
  rotate_heads(trial.kernel, c, *c.encoding, 0, q, k);
  Heads q_shifted = q;
  Heads k_shifted = k;
  rotate_heads(trial.kernel, c, *c.encoding, c.shift, q_shifted, k_shifted);
  const Wide factor = rows.frequencies().attention_factor;

  const auto score = [&](const Heads& queries, const Heads& keys, std::int64_t b, std::int64_t h,
                         std::int64_t i, std::int64_t j, std::int64_t shift) {
    const std::int64_t kv_head = h / (c.heads / c.kv_heads);
    const std::int64_t m = c.positions[static_cast<std::size_t>(i)] + shift;
    const std::int64_t n = c.positions[static_cast<std::size_t>(j)] + shift;
    const float* query = queries.out_head(b, i, h);
    const float* key = keys.out_head(b, j, kv_head);
    const ExactRow& row_m = rows.at(m);
    const ExactRow& row_n = rows.at(n);
    Score sum;
    for (std::int64_t p = 0; p < rope.pairs(); ++p) {
      const PairTruth q_truth = pair_truth(rope, row_m, bounds, m, p, queries.in_head(b, i, h));
      const PairTruth k_truth = pair_truth(rope, row_n, bounds, n, p, keys.in_head(b, j, kv_head));
      const PairChannels at = pair_channels(rope.pairing, rope.dim, p);
      sum.value = sum.value + two_product(query[at.out_a], key[at.out_a]) +
                  two_product(query[at.out_b], key[at.out_b]);
      const double size = q_truth.norm * k_truth.norm;
      const double q_error = rotation_error(bounds, q_truth);
      const double k_error = rotation_error(bounds, k_truth);
      sum.size += size;
      sum.arithmetic += q_error * k_truth.norm + q_truth.norm * k_error + q_error * k_error;
      sum.rounding += size * (q_truth.at.angle_round + k_truth.at.angle_round);
      sum.frequency += size * std::fabs(static_cast<double>(m - n)) * bounds.frequency(p);
    }
    return sum;
  };

  const auto exact_score = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    const std::int64_t kv_head = h / (c.heads / c.kv_heads);
    const ExactRow& row =
        rows.at(c.positions[static_cast<std::size_t>(i)] - c.positions[static_cast<std::size_t>(j)]);
    const float* query = q.in_head(b, i, h);
    const float* key = k.in_head(b, j, kv_head);
    Wide sum;
    for (std::int64_t p = 0; p < rope.pairs(); ++p) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, p);
      const Wide s =
          rope.direction < 0 ? -row.sin[static_cast<std::size_t>(p)] : row.sin[static_cast<std::size_t>(p)];
      const Pair<Wide> turned =
          rotate_pair(Wide(query[at.in_a]), Wide(query[at.in_b]), row.cos[static_cast<std::size_t>(p)], s);
      sum = sum + turned.a * Wide(key[at.in_a]) + turned.b * Wide(key[at.in_b]);
    }
    return sum * factor;
  };

  Measure measure;
  measure.unit = "abs";
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      for (std::int64_t i = 0; i < c.tokens(); ++i) {
        for (std::int64_t j = 0; j < c.tokens(); ++j) {
          const Score here = score(q, k, b, h, i, j, 0);
          const Score there = score(q_shifted, k_shifted, b, h, i, j, c.shift);
          const std::int64_t m = c.positions[static_cast<std::size_t>(i)];
          const auto judge = [&](const Wide& got, const Wide& want, double bound, const char* function) {
            if (here.size > 0 && !(bound < kNoClaim * here.size)) return measure.skip();
            const double error = std::fabs((got - want).value());
            measure.take(std::isfinite(got.hi) ? error : INFINITY, bound * (1 + 0x1p-40),
                         {m, j, function, got.value(), want.value()});
          };
          judge(here.value, exact_score(b, h, i, j), here.arithmetic + here.rounding + here.frequency,
                "score");
          judge(there.value, here.value, here.arithmetic + here.rounding + there.arithmetic + there.rounding,
                "shifted score");
        }
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law rope_relative_offset() {
  Law law;
  law.id = "rope_relative_offset";
  law.title = "a rotated score depends on m - n only: <K(m)q,K(n)k> = A^2 <R(m-n)q,k> = <K(m+c)q,K(n+c)k>";
  law.blind_to =
      "equal shifts of q and k; frequencies that are wrong but linear in the position (second equality)";
  law.operations = {Operation::rotate};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.max_tokens = 4;
    space.bounded_inputs = true;
    space.max_shift = std::max<std::int64_t>(context, 2);
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
