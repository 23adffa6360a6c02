// The integer phase: cos and sin at any |position| <= 2^40 without tables over positions.
#pragma once
#include <cstdint>

#include "sextant/reference/oracle/fixed.hpp"

namespace sextant::oracle {

/// |component - truth| of `phase`, in absolute terms.
///
/// Let t be w/2pi mod 1 as a 128-bit fraction, |t - exact| <= 2^-129 turns, and m <= 2^40. The product m t
/// mod 1 is exact in wrapping integers, its top 64 bits leave out < 2^-64 turns: together 2^-61.34 rad. Ten
/// bits, to nearest, choose a point C + i S of the circle; the rest x is an integer of 54 bits, so |x| <= 2
/// pi 2^-11 < 2^-8.34 carries only the roundings of 2 pi and of one product: |x| 2^-52 < 2^-60.34. Sine to
/// x^5 (remainder < 2^-70) and cosine minus one to x^6 (< 2^-82) round last by 2^-62. Of d = C (cos x - 1) -
/// S sin x both the product and the difference round by 2^-62, and S enters with 2^-54 2^-8.34. All this is <
/// 0.035 2^-54. C errs by 2^-54. The last sum C + d rounds by 2^-54, or, where it passes 1 by its own error,
/// by 1.04 2^-54. Sum: 2.075 2^-54. The sine is alike. No FMA anywhere: the same bits on every target.
inline constexpr double kPhaseBound = 0x2.1ap-54;

/// w/2pi mod 1, times 2^128, to nearest.
using TurnsPerPosition = Uint128;

struct CosSin {
  double cos, sin;
};

/// cos and sin of position * w; position in [0, 2^40].
[[nodiscard]] CosSin phase(TurnsPerPosition turns, std::uint64_t position);

}  // namespace sextant::oracle
