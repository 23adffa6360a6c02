// rope_group: K(0) = A I, K(a) K(b) = A K(a+b), K(-a) = K(a)^T, and K is linear: K(t x) = t K(x), K(x + y) =
// K(x) + K(y). On tables by the complex numbers A cos + i A sin, on rotate by rotating twice. Teeth: angles
// that are not linear in the position (clamped, wrapped, rounded, one off), position 0 that is not the
// identity, a negative position taken as positive, inputs that are clipped. Blind to any frequencies, as long
// as angles are linear in the position, and so to base, scale and direction.
//
// Slack. The kernel's angle at m is t_m = m w~ + r_m with |r_m| <= PairBound::angle_round, whatever its
// stored frequency w~, so the frequency error cancels; what is left of K(m) is A e^(i t_m) + e_m with |e_m|
// <= E_m, E_m = entries_error on tables, rotation_error on a rotated pair. A chord is at most
// its angle:
//   |K(a)K(b) - A K(a+b)|     <= A^2 (|r_a| + |r_b| + |r_(a+b)|) + A E_a + A E_b + E_a E_b + A E_(a+b)
//   |K(b)(K(a)x) - A K(a+b)x| <= A^2 |x| (|r_a| + |r_b| + |r_(a+b)|) + A E_a(x) + E_b(K(a)x) + A E_(a+b)(x)
//   |K(-a) - K(a)^*|          <= A (|r_a| + |r_-a|) + E_a + E_-a, times |x| on rotate
//   |K(0) - A|                <= E_0, times |x|
//   |K(x) + K(y) - K(x + y)|  <= E(x) + E(y) + E(x + y), x and y the two components of a pair
//   |K(t x) - t K(x)|         <= E(t x) + t E(x): the same angle on both sides.
// For t a power of two the last is an equality of bits where the contract claims bits and nothing can
// underflow or overflow: inputs zero or in [2^-30, 2^100] on both sides, both table entries at least 2^-30:
// products are then at least 2^-60, sums are multiples of 2^-106. float16 ends too soon for that.
#include "sextant/props/rotation_law.hpp"

namespace sextant {
namespace {

Pair<Wide> product(const Pair<Wide>& x, const Pair<Wide>& y) { return rotate_pair(x.a, x.b, y.a, y.b); }
Pair<Wide> conjugate(const Pair<Wide>& x) { return {x.a, -x.b}; }

bool asks_negative(const Kernel& kernel, std::int64_t position) {
  return kernel.capabilities.negative_positions && position != 0;
}

Outcome check_tables(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const Wide factor = rows.frequencies().attention_factor;
  const double size = factor.value();
  Measure measure;
  measure.unit = "abs";
  const auto judge = [&](const Pair<Wide>& got, const Pair<Wide>& want, double slack, double scale,
                         std::int64_t position, std::int64_t pair, const char* function) {
    if (slack >= kNoClaim * scale) return measure.skip();
    measure.take(distance(got, want), slack * (1 + 0x1p-40),
                 {position, pair, function, got.a.value(), want.a.value()});
  };
  for (const std::int64_t a : c.positions) {
    std::vector<std::int64_t> positions = {0, a, c.shift, a + c.shift};
    if (asks_negative(trial.kernel, a)) positions.push_back(-a);
    const KernelTables tables = kernel_tables(trial.kernel, *c.encoding, c.seq_len, positions, c.dtype);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const auto entry = [&](std::int64_t row) { return table_pair(tables, rope, row, i); };
      const auto bound = [&](std::size_t row) {
        const ExactRow& exact = rows.at(positions[row]);
        const auto k = static_cast<std::size_t>(i);
        return bounds.pair(i, positions[row], exact.cos[k].value(), exact.sin[k].value());
      };
      const auto error = [&](const PairBound& at) { return bounds.entries_error(at); };
      const PairBound zero = bound(0), one = bound(1), two = bound(2), both = bound(3);
      judge(entry(0), {factor, 0}, error(zero), size, 0, i, "K(0) = A");
      judge(product(entry(1), entry(2)), factor * entry(3),
            size * size * (one.angle_round + two.angle_round + both.angle_round) +
                size * (error(one) + error(two) + error(both)) + error(one) * error(two),
            size * size, a, i, "K(a)K(b) = A K(a+b)");
      if (positions.size() > 4) {
        const PairBound back = bound(4);
        judge(entry(4), conjugate(entry(1)),
              size * (one.angle_round + back.angle_round) + error(one) + error(back), size, -a, i,
              "K(-a) = K(a)^T");
      }
    }
  }
  return judged(std::move(measure));
}

/// The inputs that lead a rotated tensor on: every output pair in its input channels again.
Heads rotated_on(const Rope& rope, const Heads& from) {
  Heads to = from;
  each_head(from, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    const float* y = from.out_head(b, s, h);
    float* x = to.in_head(b, s, h);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
      x[at.in_a] = y[at.out_a];
      x[at.in_b] = y[at.out_b];
    }
  });
  return to;
}

/// The same tensor with change(x_a, x_b) in every pair.
template <class Change>
Heads changed(const Rope& rope, const Heads& from, Change change) {
  Heads to = from;
  each_head(to, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    float* x = to.in_head(b, s, h);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
      change(x[at.in_a], x[at.in_b]);
      x[at.in_a] = rounded_to(from.dtype, x[at.in_a]);
      x[at.in_b] = rounded_to(from.dtype, x[at.in_b]);
    }
  });
  return to;
}

bool far_from_the_edges(float x, double factor) {
  const double size = std::fabs(x);
  return size == 0 || (std::min(size, size * factor) >= 0x1p-30 && std::max(size, size * factor) <= 0x1p100);
}

Outcome check_rotate(const Trial& trial) {
  const Case& c = trial.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  ExactRows& rows = trial.truths.rows(rope, c.seq_len);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const Wide factor = rows.frequencies().attention_factor;
  const double size = factor.value();
  const std::vector<std::int64_t> zeros(c.positions.size(), 0), shifts(c.positions.size(), c.shift);
  std::vector<std::int64_t> sums = c.positions, negatives = c.positions;
  for (std::int64_t& position : sums) position += c.shift;
  for (std::int64_t& position : negatives) position = -position;
  const auto rotated = [&](Heads x, const std::vector<std::int64_t>& positions) {
    rotate_at(trial.kernel, *c.encoding, c.seq_len, positions, x);
    return x;
  };
  const bool wide = bounds.output().emin == kFloat32.emin;
  const float power = std::ldexp(1.0F, static_cast<int>(c.seed % 41) / (wide ? 1 : 5) - (wide ? 20 : 4));

  const Heads q = make_heads(c, 0);
  const Heads still = rotated(q, zeros);
  const Heads once = rotated(q, c.positions);
  const Heads twice = rotated(rotated_on(rope, once), shifts);
  const Heads direct = rotated(q, sums);
  const Heads scaled = rotated(changed(rope, q,
                                       [&](float& a, float& b) {
                                         a *= power;
                                         b *= power;
                                       }),
                               c.positions);
  const Heads firsts = rotated(changed(rope, q, [](float&, float& b) { b = 0; }), c.positions);
  const Heads seconds = rotated(changed(rope, q, [](float& a, float&) { a = 0; }), c.positions);
  const bool negative = trial.kernel.capabilities.negative_positions;
  Heads back{}, mirrored{};
  if (negative) {
    back = rotated(q, negatives);
    mirrored = rotated(changed(rope, q, [](float&, float& b) { b = -b; }), c.positions);
  }

  Measure measure;
  measure.unit = "pair_ulp";
  each_head(q, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    const auto token = static_cast<std::size_t>(s);
    const std::int64_t position = c.positions[token];
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const auto truth = [&](const Heads& x, std::int64_t at) {
        return pair_truth(rope, rows.at(at), bounds, at, i, x.in_head(b, s, h));
      };
      const auto out = [&](const Heads& x) { return output_pair(rope, i, x.out_head(b, s, h)); };
      const PairTruth one = truth(q, position);
      const double norm = one.norm;
      const double overflow = bounds.largest_norm() / 2 / std::max(1.0, size);
      const auto judge = [&](const Pair<Wide>& got, const Pair<Wide>& want, double slack, double scale,
                             const char* function) {
        if (slack >= kNoClaim * scale && scale > 0) return measure.skip();
        if (scale > overflow || norm > overflow) return measure.skip();
        const double unit = pair_unit(scale, bounds.output());
        measure.take(distance(got, want) / unit, scale == 0 ? 0 : slack * (1 + 0x1p-40) / unit,
                     {position, i, function, got.a.value(), want.a.value()});
      };
      const auto error = [&](const PairTruth& t) { return t.norm == 0 ? 0 : rotation_error(bounds, t); };
      judge(out(still), factor * Pair<Wide>{one.x_a, one.x_b}, error(truth(q, 0)), norm, "K(0) = A");

      const PairTruth both = truth(q, sums[token]);
      if (norm <= overflow) {
        const PairTruth two = truth(twice, c.shift);
        judge(out(twice), factor * out(direct),
              size * norm * (one.at.angle_round + two.at.angle_round + both.at.angle_round) +
                  size * error(one) + error(two) + size * error(both),
              size * norm, "K(b)K(a) = A K(a+b)");
      }
      if (negative && position != 0) {
        const PairTruth minus = truth(q, -position);
        judge(out(back), conjugate(out(mirrored)),
              norm * (one.at.angle_round + minus.at.angle_round) + error(one) + error(minus), norm,
              "K(-a) = K(a)^T");
      }

      judge(out(firsts) + out(seconds), out(once),
            error(truth(firsts, position)) + error(truth(seconds, position)) + error(one), norm,
            "K(x) + K(y) = K(x + y)");

      const auto k = static_cast<std::size_t>(i);
      const auto entry_is_large = [&](double entry, double entry_error) {
        return std::fabs(entry) - size * one.at.angle - entry_error >= 0x1p-30;
      };
      const bool bits = trial.contract.bits_exact && wide &&
                        far_from_the_edges(static_cast<float>(one.x_a), power) &&
                        far_from_the_edges(static_cast<float>(one.x_b), power) &&
                        entry_is_large(rows.at(position).cos[k].value(), one.at.cos) &&
                        entry_is_large(rows.at(position).sin[k].value(), one.at.sin);
      const PairTruth large = truth(scaled, position);
      if (large.x_a != power * one.x_a || large.x_b != power * one.x_b) continue;  // t x is not held
      judge(out(scaled), Wide(power) * out(once), bits ? 0 : error(large) + power * error(one), large.norm,
            "K(t x) = t K(x)");
    }
  });
  return judged(std::move(measure));
}

}  // namespace

Law rope_group() {
  Law law;
  law.id = "rope_group";
  law.title = "rotations are a group: K(0) = A I, K(a)K(b) = A K(a+b), K(-a) = K(a)^T, and linear";
  law.blind_to = "frequencies that are wrong but linear in the position: base, scale, direction";
  law.operations = {Operation::rotate, Operation::tables};
  law.space = on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(rope, context);
    space.max_tokens = 6;
    space.max_shift = std::max<std::int64_t>(context, 2);
    return space;
  });
  law.check = [](const Trial& trial) {
    return trial.operation == Operation::tables ? check_tables(trial) : check_rotate(trial);
  };
  return law;
}

}  // namespace sextant
