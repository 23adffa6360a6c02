// Searching and shrinking the worst rotation.
#include "sextant/props/worst_case.hpp"

#include <cmath>

#include "sextant/props/sweep.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

/// One pair at one position, evaluated for inputs.
class Probe {
 public:
  Probe(const Kernel& kernel, const Rope& rope, std::int64_t seq_len, std::int64_t position,
        std::int64_t pair)
      : kernel_(kernel), rope_(rope), seq_len_(seq_len), position_(position), pair_(pair) {
    ExactRows rows(rope, seq_len);
    const ExactRow& row = rows.at(position);
    cos_ = row.cos[static_cast<std::size_t>(pair)];
    sin_ = row.sin[static_cast<std::size_t>(pair)];
    if (rope.direction < 0) sin_ = -sin_;
    factor_ = rows.frequencies().attention_factor.value();
  }

  [[nodiscard]] WorstCase operator()(float x_a, float x_b) const {
    std::vector<float> x(static_cast<std::size_t>(rope_.head_dim), 0.0F), y(x.size(), NAN);
    const PairChannels at = pair_channels(rope_.pairing, rope_.dim, pair_);
    x[static_cast<std::size_t>(at.in_a)] = x_a;
    x[static_cast<std::size_t>(at.in_b)] = x_b;
    const Encoding encoding = rope_;
    std::int64_t position = position_;
    const auto view = [&](std::vector<float>& data) {
      return dense(data.data(), DType::f32, 1, 1, 1, rope_.head_dim);
    };
    kernel_.rotate({encoding,
                    seq_len_,
                    Layout::bshd,
                    dense(&position, DType::i64, 1),
                    view(x),
                    {},
                    {},
                    view(y),
                    {},
                    {},
                    {},
                    0});
    const Pair<Wide> want = rotate_pair(Wide(double{x_a}), Wide(double{x_b}), cos_, sin_);
    const double norm = factor_ * std::hypot(double{x_a}, double{x_b});
    const float got_a = y[static_cast<std::size_t>(at.out_a)];
    const float got_b = y[static_cast<std::size_t>(at.out_b)];
    const double error_a = pair_ulp(got_a, want.a, norm, kFloat32);
    const double error_b = pair_ulp(got_b, want.b, norm, kFloat32);
    const bool is_a = error_a >= error_b;
    WorstCase found;
    found.position = position_;
    found.pair = pair_;
    found.x_a = x_a;
    found.x_b = x_b;
    found.function.assign(1, is_a ? 'a' : 'b');
    found.got = is_a ? got_a : got_b;
    found.want = (is_a ? want.a : want.b).value();
    found.pair_ulp = std::max(error_a, error_b);
    return found;
  }

 private:
  const Kernel& kernel_;
  const Rope& rope_;
  std::int64_t seq_len_, position_, pair_;
  Wide cos_, sin_;
  double factor_ = 1;
};

/// `value` with its lowest `bits` mantissa bits cleared.
float cleared(float value, int bits) {
  const float scale = std::ldexp(1.0F, std::ilogb(value) - 23 + bits);
  return std::trunc(value / scale) * scale;
}

}  // namespace

WorstCase find_worst_case(const Kernel& kernel, const Rope& rope, std::int64_t seq_len,
                          const TallyWitness& start, int tries) {
  const Probe probe(kernel, rope, seq_len, start.position, start.pair);
  const PairChannels at = pair_channels(rope.pairing, rope.dim, start.pair);
  WorstCase best = probe(rotation_input(start.position, at.in_a), rotation_input(start.position, at.in_b));
  const auto offer = [&](float x_a, float x_b) {
    if (x_a == 0 || x_b == 0) return;
    const WorstCase found = probe(x_a, x_b);
    if (found.pair_ulp > best.pair_ulp) best = found;
  };
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t bits = scatter(static_cast<std::uint64_t>(i));
    const auto unit = [](std::uint64_t part) {
      return static_cast<float>(static_cast<std::int32_t>(part & 0xffffff) - 0x800000) * 0x1p-23F;
    };
    offer(unit(bits), unit(bits >> 24));
  }
  // Around the best: one bit of one input at a time, as long as it helps.
  for (double before = 0; best.pair_ulp > before;) {
    before = best.pair_ulp;
    for (int bit = 0; bit < 23; ++bit) {
      const WorstCase from = best;
      const float step_a = std::ldexp(1.0F, std::ilogb(from.x_a) - 23 + bit);
      const float step_b = std::ldexp(1.0F, std::ilogb(from.x_b) - 23 + bit);
      for (const float sign : {-1.0F, 1.0F}) {
        offer(from.x_a + sign * step_a, from.x_b);
        offer(from.x_a, from.x_b + sign * step_b);
      }
    }
  }
  // Fewest bits that keep 99 % of it.
  const double enough = 0.99 * best.pair_ulp;
  for (int bits = 23; bits > 0; --bits) {
    const WorstCase simpler = probe(cleared(best.x_a, bits), cleared(best.x_b, bits));
    if (simpler.x_a == 0 || simpler.x_b == 0 || simpler.pair_ulp < enough) continue;
    best = simpler;
    break;
  }
  best.replay.encoding = rope;
  best.replay.head_dim = rope.head_dim;
  best.replay.positions = {best.position};
  best.replay.seq_len = seq_len;
  best.replay.mode = InputMode::pair;
  best.replay.hot = best.pair;
  best.replay.x_a = best.x_a;
  best.replay.x_b = best.x_b;
  return best;
}

}  // namespace sextant
