// NTK-aware base change, static: w_i = (theta * s^(d/(d-2)))^(-2i/d), s = factor, or alpha as HunYuan names
// it (bloc97 2023; HuggingFace modeling_hunyuan_v1_moe.py `HunYuanMoEV1RotaryEmbedding`). d = 2 is undefined.
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {
namespace {

template <class Real>
Frequencies<Real> stretched(const Rope& rope, double stretch) {
  const Scalar<Real> base = ntk_base(Scalar<Real>(rope.theta), Scalar<Real>(stretch), rope.dim);
  std::vector<Real> inv_freq = theta_powers(Real(base), rope.dim, rope.pairs());
  for (Real& w : inv_freq) w = Real(1) / w;
  return {std::move(inv_freq), Real(1)};
}

}  // namespace

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Ntk& ntk, std::int64_t) {
  return stretched<Real>(rope, ntk.factor);
}

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Alpha& alpha, std::int64_t) {
  return stretched<Real>(rope, alpha.alpha);
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Ntk);
SEXTANT_INSTANTIATE_SCHEME(scaling::Alpha);

}  // namespace sextant
