// Default RoPE: w_i = theta^(-2i/d), attention factor 1 (Su et al. 2021; HuggingFace
// `compute_default_rope_parameters`).
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::None&, std::int64_t) {
  std::vector<Real> inv_freq = theta_powers(Real(Scalar<Real>(rope.theta)), rope.dim, rope.pairs());
  for (Real& w : inv_freq) w = Real(1) / w;
  return {std::move(inv_freq), Real(1)};
}

SEXTANT_INSTANTIATE_SCHEME(scaling::None);

}  // namespace sextant
