// Turns: within half a unit of 2^-96 of MPFR at 200 digits, sharp, zero at zero, whole turns dropped.
#include "sextant/reference/turns.hpp"

#include <gtest/gtest.h>

#include "sextant/reference/number.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

constexpr int kBits = 96;

/// Distance from `fraction` to the exact frequency, in units of 2^-96 turns, modulo whole turns.
double error_units(const TurnFraction& fraction, const Mpfr& w) {
  const Mpfr turns = w / (2 * pi<Mpfr>());
  const Mpfr stored = ldexp(Mpfr(fraction.high), 32) + fraction.low;
  Mpfr difference = ldexp(Mpfr(turns - floor(turns)), kBits) - stored;
  if (abs(difference) > ldexp(Mpfr(1), kBits - 1)) difference = ldexp(Mpfr(1), kBits) - abs(difference);
  return abs(difference).convert_to<double>();
}

double worst_error_units(const char* encoding, std::int64_t seq_len = 4096) {
  const WorkingDigits digits(200);
  const Rope rope = std::get<Rope>(parse_encoding(encoding));
  const std::vector<TurnFraction> turns = inv_freq_turns(rope, seq_len);
  const std::vector<Mpfr> exact = frequencies<Mpfr>(rope, seq_len).inv_freq;
  EXPECT_EQ(turns.size(), exact.size());
  double worst = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) worst = std::max(worst, error_units(turns[k], exact[k]));
  return worst;
}

TEST(turns, within_half_a_unit_and_sharp) {
  for (const char* encoding : {
           "rope(dim=128,theta=500000)",
           "rope(dim=2,theta=10000)",
           "rope(dim=256,theta=1000000)",
           "rope(dim=64,theta=1e-09)",  // frequencies of up to 8e7 turns per position
           "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))",
           "rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))",
           "rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))",
       }) {
    SCOPED_TRACE(encoding);
    EXPECT_LE(worst_error_units(encoding), 0.5);
  }
  EXPECT_GE(worst_error_units("rope(dim=256,theta=1000000)"), 0.5 / 4);
}

TEST(turns, zero_frequencies_stay_zero) {
  const auto rope =
      std::get<Rope>(parse_encoding("rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))"));
  const std::vector<TurnFraction> turns = inv_freq_turns(rope, 1);
  EXPECT_NE(turns[63], TurnFraction{});
  for (std::size_t k = 64; k < turns.size(); ++k) EXPECT_EQ(turns[k], TurnFraction{});
}

TEST(turns, one_radian_is_the_known_fraction) {
  // 1/(2 pi) = 0.28BE60DB9391054A7F09D5F4.. in hexadecimal (OEIS A086201 in base 16).
  const auto rope = std::get<Rope>(parse_encoding("rope(dim=2,theta=10000)"));
  EXPECT_EQ(inv_freq_turns(rope, 1).front(), (TurnFraction{0x28BE60DB9391054A, 0x7F09D5F4}));
}

TEST(turns, attention_factor_is_correctly_rounded) {
  const WorkingDigits digits(200);
  for (const char* encoding :
       {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))",
        "rope(dim=64,theta=150000,scaling=yarn(factor=7.3,original=4096))", "rope(dim=64,theta=10000)"}) {
    const auto rope = std::get<Rope>(parse_encoding(encoding));
    EXPECT_EQ(attention_factor(rope, 1), frequencies<Mpfr>(rope, 1).attention_factor.convert_to<double>());
  }
}

}  // namespace
}  // namespace sextant
