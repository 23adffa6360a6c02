// Points of the unit circle in 192-bit fixed point: the exact seeds of every table, multiplied in integers.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "sextant/reference/wide.hpp"

namespace sextant::oracle {

__extension__ typedef unsigned __int128 Uint128;

/// A real in [-2, 2): a two's complement integer of three limbs, least first, times 2^-190.
struct Fixed {
  static constexpr int kScaleBits = 190;
  std::array<std::uint64_t, 3> limbs{};

  [[nodiscard]] bool negative() const { return limbs[2] >> 63 != 0; }
  bool operator==(const Fixed&) const = default;
};

[[nodiscard]] inline Fixed operator+(const Fixed& a, const Fixed& b) {
  Fixed sum;
  Uint128 carry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    carry += Uint128{a.limbs[i]} + b.limbs[i];
    sum.limbs[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return sum;
}

[[nodiscard]] inline Fixed operator-(const Fixed& a) {
  return Fixed{{~a.limbs[0], ~a.limbs[1], ~a.limbs[2]}} + Fixed{{1, 0, 0}};
}

[[nodiscard]] inline Fixed operator-(const Fixed& a, const Fixed& b) { return a + -b; }

/// The product rounded down: it errs by less than 2^-190. |a b| < 2 is required.
[[nodiscard]] inline Fixed operator*(const Fixed& a, const Fixed& b) {
  std::array<std::uint64_t, 6> product{};
  for (std::size_t i = 0; i < 3; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const Uint128 sum = Uint128{a.limbs[i]} * b.limbs[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    product[i + 3] = carry;
  }
  // As unsigned numbers, negative factors stand 2^192 too high.
  Fixed high{{product[3], product[4], product[5]}};
  if (a.negative()) high = high - b;
  if (b.negative()) high = high - a;
  return {{product[2] >> 62 | high.limbs[0] << 2, high.limbs[0] >> 62 | high.limbs[1] << 2,
           high.limbs[1] >> 62 | high.limbs[2] << 2}};
}

/// The value as h + l with |l| <= ulp(h)/2 and |value - (h + l)| < kFixedToWide.
/// Three slices of 53 bits are exact doubles, and what they leave out is below 2^-158; h takes the first two
/// exactly but for a tail t with |t| <= 2^-53 (|h| <= 1 gives 2^-54); adding the third to t rounds by at most
/// 2^-107, and 2^-108 unless |h| > 1 or the sum is just 2^-54.
inline constexpr double kFixedToWide = 0x1.0000000000001p-107;
[[nodiscard]] inline Wide to_wide(const Fixed& value) {
  constexpr std::uint64_t kSlice = (std::uint64_t{1} << 53) - 1;
  const bool negative = value.negative();
  const Fixed magnitude = negative ? -value : value;
  const auto& [low, middle, high] = magnitude.limbs;
  const double a = static_cast<double>(high >> 10) * 0x1p-52;
  const double b = static_cast<double>((high << 43 | middle >> 21) & kSlice) * 0x1p-105;
  const double c = static_cast<double>((middle << 32 | low >> 32) & kSlice) * 0x1p-158;
  const Wide head = fast_two_sum(a, b);
  const Wide sum = fast_two_sum(head.hi, head.lo + c);
  return negative ? -sum : sum;
}

/// cos + i sin of an angle.
struct Phasor {
  Fixed cos, sin;
};

/// Each component errs by less than 2^-189 beyond what the factors bring, in modulus by less than 2^-188.
/// So a power z^n, by any order of products, errs by less than n (error of z + 2^-188), since |z| <= 1 +
/// tiny.
[[nodiscard]] inline Phasor operator*(const Phasor& a, const Phasor& b) {
  return {a.cos * b.cos - a.sin * b.sin, a.sin * b.cos + a.cos * b.sin};
}

inline constexpr Phasor kOne{{{0, 0, std::uint64_t{1} << 62}}, {}};

/// z^exponent by repeated squaring.
[[nodiscard]] inline Phasor power(Phasor z, std::uint64_t exponent) {
  Phasor result = kOne;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * z;
    if (exponent > 1) z = z * z;
  }
  return result;
}

}  // namespace sextant::oracle
