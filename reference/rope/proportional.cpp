// Proportional RoPE (Gemma 4 global layers; HuggingFace modeling_rope_utils.py
// `_compute_proportional_rope_parameters`): w_i = theta^(-2i/d) / s for i < r, 0 beyond, with
// r = floor(fl64(fraction * d) / 2): upstream takes the product as an IEEE double, and so do we.
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Proportional& proportional, std::int64_t) {
  using Number = Scalar<Real>;
  const double rotated_width = proportional.fraction * static_cast<double>(rope.dim);
  const auto rotated = static_cast<std::int64_t>(std::floor(rotated_width / 2));
  std::vector<Real> inv_freq = theta_powers(Real(Number(rope.theta)), rope.dim, rotated);
  for (Real& w : inv_freq) w = Real(1) / w / Real(Number(proportional.factor));
  inv_freq.resize(static_cast<std::size_t>(rope.pairs()), Real(0));
  return {std::move(inv_freq), Real(1)};
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Proportional);

}  // namespace sextant
