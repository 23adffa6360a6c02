#include "sextant/reference/oracle/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/oracle/tables.hpp"

namespace sextant::oracle {
namespace {

constexpr std::size_t kPairs = 40;
constexpr std::size_t kPlane = kPairs;
constexpr std::size_t kRows = 64;

// Tables of 40 random frequencies, and the product of two rows of them: the factor of a tile.
struct Fixture {
  std::vector<Mpfr> frequencies;
  Tables tables;
  std::vector<double> section = std::vector<double>(4 * kPlane);
  std::vector<double> factor = std::vector<double>(4 * kPlane);
  std::uint64_t block;  ///< the tile begins at 64 block

  Fixture(unsigned seed, const Lanes& lanes)
      : frequencies(random_frequencies(seed)),
        tables(units(frequencies), std::vector<bool>(kPairs), kOne.cos, 1, 1 << 20) {
    block = std::mt19937_64(seed)() % (1 << 14);
    tables.section(block / Tables::kMidRows, section.data());
    lanes.multiply(tables.section_row(section.data(), 0), tables.mid_row(0, block % Tables::kMidRows),
                   factor.data(), kPlane, kPairs);
  }
  [[nodiscard]] Tile tile() const {
    return {{factor.data(), factor.data() + 2 * kPlane, kPlane},
            tables.fine_row(0, 0),
            tables.row_step(),
            kRows,
            kPairs};
  }

  static std::vector<Mpfr> random_frequencies(unsigned seed) {
    const WorkingDigits scope(kSeedDigits);
    std::mt19937_64 random(seed);
    std::vector<Mpfr> result;
    for (std::size_t i = 0; i < kPairs; ++i)
      result.push_back(exp(Mpfr(-12 * std::ldexp(static_cast<double>(random()), -64))));
    return result;
  }
  static std::vector<Phasor> units(const std::vector<Mpfr>& frequencies) {
    std::vector<Phasor> result;
    for (const Mpfr& w : frequencies) result.push_back(phasor(w));
    return result;
  }
};

// Same IEEE operations in the same order: a free oracle of equivalence.
TEST(Lanes, AllTargetsGiveTheSameBits) {
  const auto targets = supported_lanes();
  ASSERT_GE(targets.size(), 2u);
  std::string names;
  for (const Lanes* lanes : targets) names += std::string(lanes->name) + " ";
  RecordProperty("targets", names);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto run = [&](const Lanes& lanes) {
      const Fixture fixture(seed, lanes);
      std::vector<double> out = fixture.factor;
      const std::size_t start = out.size();
      out.resize(start + 6 * kRows * kPairs);
      lanes.evaluate(fixture.tile(), out.data() + start, out.data() + start + kRows * kPairs, kPairs);
      lanes.evaluate_wide(fixture.tile(), out.data() + start + 2 * kRows * kPairs, kPlane, 4 * kPlane);
      return out;
    };
    const std::vector<double> first = run(*targets[0]);
    for (const Lanes* lanes : targets) {
      const std::vector<double> other = run(*lanes);
      ASSERT_EQ(std::memcmp(first.data(), other.data(), first.size() * sizeof(double)), 0) << lanes->name;
    }
  }
}

// The product of tables against MPFR: the bound for A = 1 (oracle.cpp) is kept, and nearly reached.
TEST(Lanes, DoubleProductKeepsItsBound) {
  const WorkingDigits scope(kSeedDigits);
  const Lanes& lanes = *supported_lanes()[0];
  constexpr double kTable = 6.8285 * 0x1p-54, kWide = 40 * 0x1p-107;
  double worst = 0, worst_wide = 0;
  int points = 0;
  for (unsigned seed = 100; seed < 140; ++seed) {
    const Fixture fixture(seed, lanes);
    std::vector<double> cos(kRows * kPairs), sin(kRows * kPairs), wide(4 * kRows * kPairs);
    lanes.evaluate(fixture.tile(), cos.data(), sin.data(), kPairs);
    lanes.evaluate_wide(fixture.tile(), wide.data(), kPlane, 4 * kPlane);
    for (std::size_t row = 0; row < kRows; ++row)
      for (std::size_t k = 0; k < kPairs; ++k, ++points) {
        Mpfr c, s;
        const Mpfr angle = fixture.frequencies[k] * (64 * fixture.block + row);
        mpfr_sin_cos(s.backend().data(), c.backend().data(), angle.backend().data(), MPFR_RNDN);
        const double* at = wide.data() + 4 * kPlane * row + k;
        const auto error = [](const Mpfr& x) { return std::fabs(x.convert_to<double>()); };
        worst = std::max({worst, error(c - cos[row * kPairs + k]), error(s - sin[row * kPairs + k])});
        worst_wide =
            std::max({worst_wide, error(c - at[0] - at[2 * kPlane]), error(s - at[kPlane] - at[3 * kPlane])});
      }
  }
  RecordProperty("points", points);
  RecordProperty("worst_log2", std::to_string(std::log2(worst)));
  RecordProperty("worst_wide_log2", std::to_string(std::log2(worst_wide)));
  EXPECT_LE(worst, kTable);
  EXPECT_GE(worst, kTable / 4);
  EXPECT_LE(worst_wide, kWide);
}

// One product of double-doubles near the diagonal, where all its terms are large.
TEST(Lanes, WideProductKeepsItsBoundAndNearlyReachesIt) {
  const WorkingDigits scope(kSeedDigits);
  std::mt19937_64 random(7);
  double worst = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> a(4 * kPlane), b(4 * kPlane), out(4 * kPlane);
    for (std::vector<double>* x : {&a, &b})
      for (std::size_t k = 0; k < kPairs; ++k) {
        const double angle =
            std::numbers::pi / 4 + std::ldexp(static_cast<double>(random() >> 11), -54) - 0.25;
        (*x)[k] = std::cos(angle);
        (*x)[kPlane + k] = std::sin(angle);
        for (const std::size_t plane : {2 * kPlane, 3 * kPlane})
          (*x)[plane + k] = std::ldexp(1 - std::ldexp(static_cast<double>(random() >> 11), -53), -54);
      }
    supported_lanes()[0]->multiply({a.data(), a.data() + 2 * kPlane, kPlane},
                                   {b.data(), b.data() + 2 * kPlane, kPlane}, out.data(), kPlane, kPairs);
    for (std::size_t k = 0; k < kPairs; ++k) {
      const auto part = [&](const std::vector<double>& x, std::size_t plane) {
        return Mpfr(x[plane + k]) + x[plane + 2 * kPlane + k];
      };
      const Mpfr cos = part(a, 0) * part(b, 0) - part(a, kPlane) * part(b, kPlane);
      const Mpfr sin = part(a, kPlane) * part(b, 0) + part(a, 0) * part(b, kPlane);
      worst = std::max({worst, std::fabs(Mpfr(part(out, 0) - cos).convert_to<double>()),
                        std::fabs(Mpfr(part(out, kPlane) - sin).convert_to<double>())});
    }
  }
  RecordProperty("points", kRounds * kPairs);
  RecordProperty("worst_units", std::to_string(worst * 0x1p107));
  EXPECT_LE(worst, kWideProduct);
  EXPECT_GE(worst, kWideProduct / 4);
}

}  // namespace
}  // namespace sextant::oracle
