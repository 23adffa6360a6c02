// Position interpolation: w_i = theta^(-2i/d) / factor (Chen et al. 2023, arXiv 2306.15595;
// HuggingFace modeling_rope_utils.py `_compute_linear_scaling_rope_parameters`, which divides inv_freq).
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Linear& linear, std::int64_t seq_len) {
  Frequencies<Real> result = frequencies_of<Real>(rope, scaling::None{}, seq_len);
  for (Real& w : result.inv_freq) w = w / Real(Scalar<Real>(linear.factor));
  return result;
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Linear);

}  // namespace sextant
