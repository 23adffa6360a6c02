#include "sextant/reference/oracle/phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sextant/reference/oracle/seeds.hpp"

namespace sextant::oracle {
namespace {

// Random frequencies and positions of every size up to 2^40, against MPFR.
TEST(Phase, KeepsItsBoundAndNearlyReachesIt) {
  const WorkingDigits scope(kSeedDigits);
  constexpr int kFrequencies = 400, kPositions = 250;
  std::mt19937_64 random(3);
  double worst = 0;
  for (int i = 0; i < kFrequencies; ++i) {
    const Mpfr w = exp(Mpfr(-20 * std::ldexp(static_cast<double>(random()), -64)));
    const TurnsPerPosition turns = turns_per_position(w);
    for (int j = 0; j < kPositions; ++j) {
      const std::uint64_t position = (random() >> 24) >> (random() % 40);
      const CosSin got = phase(turns, position);
      Mpfr cos, sin;
      mpfr_sin_cos(sin.backend().data(), cos.backend().data(), Mpfr(w * position).backend().data(),
                   MPFR_RNDN);
      for (const double error :
           {Mpfr(got.cos - cos).convert_to<double>(), Mpfr(got.sin - sin).convert_to<double>()})
        worst = std::max(worst, std::fabs(error));
    }
  }
  RecordProperty("points", kFrequencies * kPositions);
  RecordProperty("worst_log2", std::to_string(std::log2(worst)));
  EXPECT_LE(worst, kPhaseBound);
  EXPECT_GE(worst, kPhaseBound / 4);
}

TEST(Phase, IsExactAtRest) {
  EXPECT_EQ(phase(turns_per_position(Mpfr(1)), 0).cos, 1);
  EXPECT_EQ(phase(turns_per_position(Mpfr(1)), 0).sin, 0);
  EXPECT_EQ(phase(0, 12345).cos, 1);
  EXPECT_EQ(phase(0, 12345).sin, 0);
}

}  // namespace
}  // namespace sextant::oracle
