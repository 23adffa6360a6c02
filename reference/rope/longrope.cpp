// LongRoPE (Ding et al. 2024, arXiv 2402.13753; HuggingFace modeling_rope_utils.py
// `_compute_longrope_parameters`): w_i = 1 / (E_i theta^(2i/d)), E the long list iff the current length
// exceeds L = original; the attention factor does not follow the switch: the explicit one, else 1 for s <= 1,
// else sqrt(1 + ln s / ln L).
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {
namespace {

template <class Number>
Number attention_factor(const scaling::LongRope& longrope) {
  using std::log;
  using std::sqrt;
  if (longrope.attention_factor) return Number(*longrope.attention_factor);
  const bool grows = longrope.factor ? *longrope.factor > 1 : *longrope.max_position > longrope.original;
  if (!grows) return Number(1);
  const Number scale = longrope.factor ? Number(*longrope.factor)
                                       : Number(Number(*longrope.max_position) / Number(longrope.original));
  return sqrt(Number(Number(1) + log(scale) / log(Number(longrope.original))));
}

}  // namespace

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::LongRope& longrope, std::int64_t seq_len) {
  using Number = Scalar<Real>;
  const std::vector<double>& divisors =
      seq_len > longrope.original ? longrope.long_factor : longrope.short_factor;
  std::vector<Real> inv_freq = theta_powers(Real(Number(rope.theta)), rope.dim, rope.pairs());
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    inv_freq[i] = Real(1) / (Real(Number(divisors[i])) * inv_freq[i]);
  }
  return {std::move(inv_freq), Real(attention_factor<Number>(longrope))};
}

SEXTANT_INSTANTIATE_SCHEME(scaling::LongRope);

}  // namespace sextant
