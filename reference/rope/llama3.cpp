// Llama 3.1 scaling: three bands by wavelength lam = 2 pi / w (Dubey et al. 2024; HuggingFace
// modeling_rope_utils.py
// `_compute_llama3_parameters`): lam < L/high keeps w, lam > L/low gives w/s, between them
// t = (L/lam - low) / (high - low), (1 - t) w/s + t w. Where high <= low the middle band is empty and
// HuggingFace's test lam > L/low, which comes last, decides.
#include "sextant/reference/rope/llama3.hpp"

#include "sextant/reference/decide.hpp"
#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

/// Termination: lam = L/f would make pi = L w / (2 f) algebraic.
std::vector<Band> decide_llama3_bands(const Rope& rope, const scaling::Llama3& llama3) {
  // Sign of lam - L/f, which grows with the pair.
  const auto beyond = [&](std::int64_t pair, double f) {
    return sign_of([&] {
             const Interval power =
                 pow(Interval(rope.theta), Interval(Interval(2 * pair) / Interval(rope.dim)));
             return Interval(Interval(2) * pi<Interval>() * power - Interval(llama3.original) / Interval(f));
           }) > 0;
  };
  std::vector<Band> bands;
  for (std::int64_t i = 0; i < rope.pairs(); ++i) {
    if (beyond(i, llama3.low)) {
      bands.push_back(Band::interpolated);
    } else {
      bands.push_back(beyond(i, llama3.high) ? Band::ramp : Band::kept);
    }
  }
  return bands;
}

template <class Real>
Frequencies<Real> frequencies_of(const Rope& rope, const scaling::Llama3& llama3, std::int64_t seq_len) {
  using Number = Scalar<Real>;
  const std::vector<Band> bands = decide_llama3_bands(rope, llama3);
  const Real factor = Real(Number(llama3.factor));
  Frequencies<Real> result = frequencies_of<Real>(rope, scaling::None{}, seq_len);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    Real& w = result.inv_freq[i];
    if (bands[i] == Band::kept) continue;
    if (bands[i] == Band::interpolated) {
      w = w / factor;
      continue;
    }
    const Real wavelength = Real(Number(2) * pi<Number>()) / w;
    const Real smooth = (Real(llama3.original) / wavelength - Real(Number(llama3.low))) /
                        Real(Number(llama3.high) - Number(llama3.low));
    w = (Real(1) - smooth) * w / factor + smooth * w;
  }
  return result;
}

SEXTANT_INSTANTIATE_SCHEME(scaling::Llama3);

}  // namespace sextant
