#include "sextant/reference/oracle/seeds.hpp"

#include <gmp.h>

namespace sextant::oracle {
namespace {

// The integer nearest to x 2^bits, modulo 2^192, as a two's complement.
Fixed scaled_integer(const Mpfr& x, long bits) {
  Mpfr scaled = x;
  mpfr_mul_2si(scaled.backend().data(), scaled.backend().data(), bits, MPFR_RNDN);
  mpz_t integer;
  mpz_init(integer);
  mpfr_get_z(integer, scaled.backend().data(), MPFR_RNDN);
  Fixed magnitude;
  for (std::size_t i = 0; i < 3; ++i)
    magnitude.limbs[i] = i < mpz_size(integer) ? mpz_getlimbn(integer, static_cast<mp_size_t>(i)) : 0;
  const bool negative = mpz_sgn(integer) < 0;
  mpz_clear(integer);
  return negative ? -magnitude : magnitude;
}

}  // namespace

Fixed to_fixed(const Mpfr& x) { return scaled_integer(x, Fixed::kScaleBits); }

Phasor phasor(const Mpfr& angle) {
  const WorkingDigits scope(78);  // 260 bits
  Mpfr cos, sin;
  mpfr_sin_cos(sin.backend().data(), cos.backend().data(), angle.backend().data(), MPFR_RNDN);
  return {to_fixed(cos), to_fixed(sin)};
}

TurnsPerPosition turns_per_position(const Mpfr& w) {
  const WorkingDigits scope(kSeedDigits);
  Mpfr turns = w / (2 * pi<Mpfr>());
  mpfr_frac(turns.backend().data(), turns.backend().data(), MPFR_RNDN);
  const Fixed integer = scaled_integer(turns, 128);
  return Uint128{integer.limbs[1]} << 64 | integer.limbs[0];
}

}  // namespace sextant::oracle
