// Exact equality of a frequency or an attention factor with a rational, where no interval can decide it.
#pragma once
#include <boost/multiprecision/gmp.hpp>
#include <cstdint>

#include "sextant/reference/encoding.hpp"

namespace sextant {

using Rational = boost::multiprecision::mpq_rational;

/// True iff inv_freq[pair] equals `value` (> 0). Frequencies are r * prod b_j^(p_j/q) with rational r and
/// b_j, so that equality is (value/r)^q = prod b_j^p_j in rationals; those that contain pi or a logarithm are
/// transcendental and never equal. Throws Undecided where the powers would exceed 2^26 bits.
[[nodiscard]] bool inv_freq_equals(const Rope& rope, std::int64_t seq_len, std::int64_t pair,
                                   const Rational& value);
[[nodiscard]] bool inv_freq_equals(const Sinusoidal& scheme, std::int64_t pair, const Rational& value);

/// True iff the attention factor equals `value` (> 0): only LongRoPE's sqrt(1 + ln s / ln L) can be an
/// irrational-looking rational, where s^q = L^p; YaRN's 1 + k ln(s)/10 is transcendental for s > 1
/// (Lindemann), as are ratios of two such.
[[nodiscard]] bool attention_factor_equals(const Rope& rope, const Rational& value);

}  // namespace sextant
