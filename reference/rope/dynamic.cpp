// Dynamic NTK: the base grows with the current length T past M = max_position,
// theta * (s T/M - (s - 1))^(d/(d-2)); up to M nothing changes (emozilla 2023; HuggingFace
// modeling_rope_utils.py `_compute_dynamic_ntk_parameters`). A fresh encoding: the length history that
// HuggingFace keeps between calls is a fact of a sequence of calls, not of the definition. Upstream computes
// the base in the tensors' float32 at run time (T is a tensor there), so Real and not Scalar stands here.
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Dynamic& dynamic, std::int64_t seq_len) {
  if (seq_len <= dynamic.max_position) return frequencies_of<Real>(rope, scaling::None{}, seq_len);
  const Real factor = Real(Scalar<Real>(dynamic.factor));
  const Real stretch = factor * Real(seq_len) / Real(dynamic.max_position) -
                       Real(Scalar<Real>(dynamic.factor) - Scalar<Real>(1));
  const Real base = ntk_base(Real(Scalar<Real>(rope.theta)), stretch, rope.dim);
  std::vector<Real> inv_freq = theta_powers(base, rope.dim, rope.pairs());
  for (Real& w : inv_freq) w = Real(1) / w;
  return {std::move(inv_freq), Real(1)};
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Dynamic);

}  // namespace sextant
