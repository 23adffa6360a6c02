// One overload per published RoPE scaling; the definition of each stands in the .cpp of its name.
#pragma once
#include "sextant/reference/number.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/rounded.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::None&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Linear&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Ntk&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Alpha&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Dynamic&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Yarn&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Llama3&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::LongRope&, std::int64_t seq_len);
template <class Real>
Frequencies<Real> frequencies_of(const Rope&, const scaling::Proportional&, std::int64_t seq_len);

/// theta^(2i/width) for i < count: what upstream writes `base ** (torch.arange(0, dim, 2) / dim)`.
/// Default inv_freq is its reciprocal (RoFormer, Su et al. 2021, arXiv 2104.09864 section 3.2.2;
/// HuggingFace modeling_llama.py `compute_default_rope_parameters`).
template <class Real>
[[nodiscard]] std::vector<Real> theta_powers(const Real& theta, std::int64_t width, std::int64_t count) {
  using std::pow;
  std::vector<Real> powers;
  powers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) powers.push_back(pow(theta, Real(Real(2 * i) / Real(width))));
  return powers;
}

/// The NTK-aware base theta * stretch^(d/(d-2)), d the rotary width, d > 2 ("NTK-aware scaled RoPE", bloc97,
/// 2023: the ratio of inv_freq to the default's is stretch^(-2i/(d-2)), 1 at pair 0 and 1/stretch at the
/// last).
template <class Number>
[[nodiscard]] Number ntk_base(const Number& theta, const Number& stretch, std::int64_t width) {
  using std::pow;
  return theta * pow(stretch, Number(Number(width) / Number(width - 2)));
}

/// Every number type that truth, kernels and bounds use.
#define SEXTANT_INSTANTIATE_SCHEME(SCALING)                                                 \
  template Frequencies<float> frequencies_of(const Rope&, const SCALING&, std::int64_t);    \
  template Frequencies<double> frequencies_of(const Rope&, const SCALING&, std::int64_t);   \
  template Frequencies<Mpfr> frequencies_of(const Rope&, const SCALING&, std::int64_t);     \
  template Frequencies<Interval> frequencies_of(const Rope&, const SCALING&, std::int64_t); \
  template Frequencies<Bin100> frequencies_of(const Rope&, const SCALING&, std::int64_t);   \
  template Frequencies<Rounded<24>> frequencies_of(const Rope&, const SCALING&, std::int64_t)

}  // namespace sextant
