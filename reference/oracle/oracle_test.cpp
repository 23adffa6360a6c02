#include "sextant/reference/oracle/oracle.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

constexpr unsigned kDigits = 110;  // 365 bits, beyond what the oracle itself keeps

Rope rope_of(std::string_view text) { return std::get<Rope>(parse_encoding(text)); }

// One encoding per scheme, with and without an attention factor, with zero frequencies, of odd widths.
const std::vector<std::string> kEncodings = {
    "rope(dim=128,theta=500000)",
    "rope(dim=2,theta=10000)",
    "rope(dim=20,theta=10000,scaling=linear(factor=4))",
    "rope(dim=64,theta=10000,scaling=ntk(factor=8))",
    "rope(dim=64,theta=10000,scaling=dynamic(factor=2,max_position=4096))",
    "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,beta_fast=32,beta_slow=1,truncate=false))",
    "rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))",
    "rope(dim=8,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.1,2,3],long=[1,4.5,20,64]))",
    "rope(dim=300,theta=1000000,scaling=proportional(fraction=0.25))",
    "rope(dim=32,theta=1e15)",
    "rope(dim=16,theta=10000,scaling=yarn(factor=4,original=4096,attention_factor=0.3))",
};

// An independent truth: frequencies at more digits, MPFR's sine and cosine, nothing of the oracle.
class Independent {
 public:
  Independent(const Rope& rope, std::int64_t seq_len) {
    const WorkingDigits scope(kDigits);
    exact_ = frequencies<Mpfr>(rope, seq_len);
  }
  Independent(const std::vector<float>& stored, double factor) {
    const WorkingDigits scope(kDigits);
    exact_ = {{stored.begin(), stored.end()}, Mpfr(factor)};
  }
  [[nodiscard]] Mpfr at(std::int64_t position, std::int64_t pair, Function function) const {
    const WorkingDigits scope(kDigits);
    const Mpfr angle = exact_.inv_freq[static_cast<std::size_t>(pair)] * position;
    return exact_.attention_factor * (function == Function::cos ? Mpfr(cos(angle)) : Mpfr(sin(angle)));
  }

 private:
  Frequencies<Mpfr> exact_;
};

double distance(const Mpfr& truth, const Wide& got) {
  const WorkingDigits scope(kDigits);
  return std::fabs(Mpfr(truth - got.hi - got.lo).convert_to<double>());
}

// A table of one format as 16 or 32 bits per value, whatever the format.
struct Table {
  const Format* format;
  std::int64_t first, count, pairs;
  std::vector<float> f32[2];
  std::vector<std::uint16_t> b16[2];

  Table(const Format& format_, std::int64_t first_, std::int64_t count_, std::int64_t pairs_)
      : format(&format_), first(first_), count(count_), pairs(pairs_) {
    for (int f = 0; f < 2; ++f) {
      f32[f].resize(static_cast<std::size_t>(count * pairs));
      b16[f].resize(static_cast<std::size_t>(count * pairs));
    }
  }
  [[nodiscard]] bool wide() const { return format->precision == 24; }
  [[nodiscard]] void* data(int f) { return wide() ? static_cast<void*>(f32[f].data()) : b16[f].data(); }
  [[nodiscard]] GivenTable given(int f) { return {data(f), pairs, 1}; }
  [[nodiscard]] WrittenTable written(int f) { return {data(f), pairs, 1}; }
  [[nodiscard]] std::size_t index(std::int64_t position, std::int64_t pair) const {
    return static_cast<std::size_t>((position - first) * pairs + pair);
  }

  [[nodiscard]] double get(std::size_t i, int f) const {
    if (wide()) return f32[f][i];
    const std::uint16_t bits = b16[f][i];
    if (format->precision == 8) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 != 0 ? -size : size;
  }
  /// Moves a value by steps of its format.
  void step(std::size_t i, int f, int steps) {
    if (wide()) {
      f32[f][i] =
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(f32[f][i]) + static_cast<std::uint32_t>(steps));
    } else {
      b16[f][i] = static_cast<std::uint16_t>(b16[f][i] + steps);
    }
  }
};

Table produce(const Oracle& oracle, const Format& format, std::int64_t first, std::int64_t count) {
  Table table(format, first, count, oracle.pairs());
  EXPECT_EQ(oracle.produce(first, count, format, table.written(0), table.written(1)), 0u);
  return table;
}

Tally check(const Oracle& oracle, Table& table) {
  return oracle.check(table.first, table.count, *table.format, table.given(0), table.given(1));
}

void expect_same(const Tally& a, const Tally& b) {
  EXPECT_EQ(a.points, b.points);
  for (int i = 0; i < Tally::kOctaves; ++i) {
    const Errors &x = a.octaves[static_cast<std::size_t>(i)], &y = b.octaves[static_cast<std::size_t>(i)];
    EXPECT_EQ(x, y) << "octave " << i << ": ncr " << x.not_correctly_rounded << " " << y.not_correctly_rounded
                    << ", sum " << x.sum.low << " " << y.sum.low << ", max " << x.max_ulp << " " << y.max_ulp
                    << ", abs " << x.max_abs << " " << y.max_abs << ", values " << x.values << " "
                    << y.values;
  }
  EXPECT_EQ(a.all, b.all);
  for (const auto& [x, y] : {std::pair(a.worst, b.worst), std::pair(a.first_nan, b.first_nan)}) {
    ASSERT_EQ(x.has_value(), y.has_value());
    if (!x) continue;
    EXPECT_EQ(x->position, y->position);
    EXPECT_EQ(x->pair, y->pair);
    EXPECT_EQ(x->function, y->function);
    EXPECT_EQ(x->want, y->want);
    EXPECT_TRUE(x->got == y->got || std::isnan(x->got));
    EXPECT_TRUE(x->ulp == y->ulp || std::isnan(x->ulp)) << x->ulp << " " << y->ulp;
  }
}

// The definitions of tally.hpp in arbitrary precision, value by value, from the independent truth.
Tally definition(const Independent& truth, const Table& table) {
  const WorkingDigits scope(kDigits);
  Tally tally;
  tally.points = static_cast<std::uint64_t>(table.count * table.pairs);
  const int p = table.format->precision;
  for (std::int64_t m = table.first; m < table.first + table.count; ++m)
    for (std::int64_t k = 0; k < table.pairs; ++k)
      for (int f = 0; f < 2; ++f) {
        const auto function = static_cast<Function>(f);
        Errors& errors = tally.octaves[static_cast<std::size_t>(octave_of(m))];
        ++errors.values;
        const double got = table.get(table.index(m, k), f);
        const Mpfr exact = truth.at(m, k, function);
        const long exponent =
            exact == 0 ? table.format->emin
                       : std::max<long>(mpfr_get_exp(exact.backend().data()) - 1, table.format->emin);
        const auto scale = [&](const Mpfr& x, long bits) {
          return ldexp(x, static_cast<int>(p - 1 - exponent + bits));
        };
        Mpfr grid = scale(exact, 0);
        mpfr_rint(grid.backend().data(), grid.backend().data(), MPFR_RNDN);
        const double want = std::ldexp(grid.convert_to<double>(), static_cast<int>(exponent - p + 1));
        if (std::isnan(got)) {
          ++errors.nan;
          ++errors.not_correctly_rounded;
          tally.offer_nan({m, k, function, got, want, got});
          continue;
        }
        if (std::isinf(got)) {
          ++errors.not_correctly_rounded;
          errors.sum += UlpSum::from_ulp(INFINITY);
          errors.max_ulp = errors.max_abs = INFINITY;
          tally.offer_worst({m, k, function, got, want, INFINITY});
          continue;
        }
        const Mpfr off = abs(Mpfr(got - exact));
        Mpfr units = scale(off, 16);
        if (units < 0x1p53) mpfr_rint(units.backend().data(), units.backend().data(), MPFR_RNDN);
        const double ulp = units.convert_to<double>() / 65536;
        errors.not_correctly_rounded += scale(off, 0) <= 0.5 ? 0 : 1;
        errors.sum += UlpSum::from_ulp(ulp);
        errors.max_ulp = std::max(errors.max_ulp, ulp);
        errors.max_abs = std::max(errors.max_abs, off.convert_to<double>());
        tally.offer_worst({m, k, function, got, want, ulp});
      }
  for (const Errors& errors : tally.octaves) tally.all += errors;
  return tally;
}

// ---- truth ----

// All ways to a value against the independent truth: every scheme, positions of every size and sign.
TEST(Oracle, AuditsAgainstArbitraryPrecision) {
  std::mt19937_64 random(1);
  int points = 0;
  double worst_row = 0, worst_rows = 0, worst_wide = 0;  // of their bounds
  for (const std::string& text : kEncodings) {
    const Rope rope = rope_of(text);
    for (const std::int64_t seq_len : {1000, 200000}) {
      const Independent truth(rope, seq_len);
      const Oracle oracle(rope, seq_len, 0, 1 << 20);
      const auto pairs = static_cast<std::size_t>(oracle.pairs());
      ASSERT_EQ(oracle.pairs(), rope.pairs());
      for (int i = 0; i < 60; ++i) {
        const auto size = static_cast<std::int64_t>((random() >> 24) >> (random() % 41));
        const std::int64_t position = i % 5 == 0 ? -size : size;
        std::vector<double> c(pairs), s(pairs);
        oracle.row(position, c.data(), s.data());
        const std::int64_t dense = position % (1 << 19);
        constexpr std::int64_t kRows = 5;
        std::vector<double> dc(kRows * pairs), ds(kRows * pairs);
        oracle.rows(dense, kRows, dc.data(), ds.data());
        for (std::size_t k = 0; k < pairs; k += 1 + random() % 7) {
          const auto pair = static_cast<std::int64_t>(k);
          const auto wide = oracle.wide(position, pair);
          const std::size_t row = random() % kRows;
          const std::int64_t m = dense + static_cast<std::int64_t>(row);
          worst_row = std::max({worst_row, distance(truth.at(position, pair, Function::cos), c[k]),
                                distance(truth.at(position, pair, Function::sin), s[k])});
          worst_rows = std::max({worst_rows, distance(truth.at(m, pair, Function::cos), dc[row * pairs + k]),
                                 distance(truth.at(m, pair, Function::sin), ds[row * pairs + k])});
          worst_wide = std::max({worst_wide, distance(truth.at(position, pair, Function::cos), wide.cos),
                                 distance(truth.at(position, pair, Function::sin), wide.sin)});
          ASSERT_LE(worst_row, oracle.bound()) << text;
          ASSERT_LE(worst_rows, oracle.bound()) << text;
          ASSERT_LE(worst_wide, oracle.wide_bound()) << text;
          ++points;
        }
      }
      worst_row = worst_rows = worst_wide = 0;
    }
  }
  RecordProperty("points", points);
  EXPECT_GT(points, 5000);
}

TEST(Oracle, BoundsAreSharp) {
  std::mt19937_64 random(2);
  for (const char* text :
       {"rope(dim=128,theta=500000)",
        "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))"}) {
    const Rope rope = rope_of(text);
    const Independent truth(rope, 1);
    const Oracle oracle(rope, 1, 0, 1 << 20);
    const auto pairs = static_cast<std::size_t>(oracle.pairs());
    constexpr std::int64_t kRows = 256;
    std::vector<double> c(kRows * pairs), s(kRows * pairs);
    double worst = 0, worst_wide = 0;
    for (int round = 0; round < 4; ++round) {
      const auto first = static_cast<std::int64_t>(random() % (1 << 19));
      oracle.rows(first, kRows, c.data(), s.data());
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::size_t k = 0; k < pairs / 2; ++k) {
          const auto pair = static_cast<std::int64_t>(k);
          const Mpfr exact = truth.at(first + row, pair, Function::cos);
          worst = std::max(worst, distance(exact, c[static_cast<std::size_t>(row) * pairs + k]));
          worst_wide = std::max(worst_wide, distance(exact, oracle.wide(first + row, pair).cos));
        }
    }
    EXPECT_GE(worst, oracle.bound() / 4) << text;
    EXPECT_GE(worst_wide, oracle.wide_bound() / 4) << text;
  }
}

TEST(Oracle, IsExactAtRestAndSymmetric) {
  for (const std::string& text : kEncodings) {
    const Oracle oracle(rope_of(text), 1000, -200, 200);
    const auto pairs = static_cast<std::size_t>(oracle.pairs());
    std::vector<double> c(401 * pairs), s(401 * pairs);
    oracle.rows(-200, 399, c.data(), s.data());
    for (std::size_t k = 0; k < pairs; ++k) {
      EXPECT_EQ(c[200 * pairs + k], oracle.attention_factor());
      EXPECT_EQ(s[200 * pairs + k], 0);
      for (std::size_t m = 1; m < 199; ++m) {
        ASSERT_EQ(c[(200 - m) * pairs + k], c[(200 + m) * pairs + k]);
        ASSERT_EQ(s[(200 - m) * pairs + k], -s[(200 + m) * pairs + k]);
      }
    }
  }
}

// Also with factors that leave float16 subnormal, that are no double's neighbour of a power of two, and that
// overflow it.
TEST(Oracle, StoredFrequenciesAreTakenExactly) {
  const std::vector<float> stored = {1.0f, 0.1f, -0.3f, 1e-7f, 0.0f, 1e-12f};
  for (const double factor :
       {1.25, 1.0, 1e-5, 0.9999999999999999, 1.0000000000000002, 1.1920928955078125e-07, 60000.0, 1e5}) {
    const Independent truth(stored, factor);
    const Oracle oracle = Oracle::from_stored(stored, factor, 0, 4096);
    EXPECT_EQ(oracle.attention_factor(), factor);
    for (const std::int64_t m : {1, 777, 4000, 1 << 30})
      for (std::int64_t k = 0; k < oracle.pairs(); ++k) {
        EXPECT_LE(distance(truth.at(m, k, Function::cos), oracle.wide(m, k).cos), oracle.wide_bound());
        EXPECT_LE(distance(truth.at(m, k, Function::sin), oracle.wide(m, k).sin), oracle.wide_bound());
      }
    if (factor > 65504) continue;  // the definition below does not know of overflow
    for (const Format* format : {&kFloat32, &kFloat16, &kBFloat16})
      for (const int steps : {0, 1, 3}) {
        SCOPED_TRACE(std::to_string(factor) + " " + std::string(format->name) + " " + std::to_string(steps));
        Table table = produce(oracle, *format, 0, 200);
        for (std::size_t i = 0; i < table.f32[0].size(); ++i)
          table.step(i, 0, static_cast<int>(i % 2) * steps);
        expect_same(check(oracle, table), definition(truth, table));
      }
  }
}

TEST(Oracle, OverflowsByTheRoundingRule) {
  const std::vector<float> stored = {1.0f, 0.1f};
  const Oracle oracle = Oracle::from_stored(stored, 1e5, 0, 4096);
  Table table = produce(oracle, kFloat16, 0, 300);
  EXPECT_EQ(table.get(0, 0), INFINITY);
  const Tally right = check(oracle, table);
  EXPECT_EQ(right.all.not_correctly_rounded, 0u);
  EXPECT_LE(right.all.max_ulp, 0.5);
  table.step(0, 0, -1);  // the largest finite number instead
  EXPECT_EQ(check(oracle, table).all.not_correctly_rounded, 1u);
}

// 2^15 pairs, and positions up to the limit in bulk.
TEST(Oracle, ServesTheLargestWidthsAndPositions) {
  Rope rope;
  rope.head_dim = rope.dim = 4096;
  const Oracle wide(rope, 1, 0, 128);
  Table table = produce(wide, kFloat32, 0, 128);
  EXPECT_EQ(check(wide, table).all.not_correctly_rounded, 0u);

  rope = rope_of("rope(dim=8,theta=10000)");
  const std::int64_t last = std::int64_t{1} << 40;
  const Oracle far(rope, 1, last - 64, last + 1);
  table = produce(far, kFloat32, last - 50, 51);
  expect_same(check(far, table), definition(Independent(rope, 1), table));
  EXPECT_EQ(check(far, table).all.not_correctly_rounded, 0u);
}

// The rotation in double: the bound per pair norm is kept, and nearly reached.
TEST(Oracle, RotationKeepsItsBound) {
  const WorkingDigits scope(kDigits);
  const Rope rope = rope_of("rope(dim=128,theta=500000)");
  const Independent truth(rope, 1);
  const Oracle oracle(rope, 1, 0, 0);
  std::mt19937_64 random(3);
  const auto value = [&] {
    return std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x7f000000) & 0x7fffffff);
  };
  double worst = 0;
  for (int i = 0; i < 400; ++i) {
    const auto position = static_cast<std::int64_t>(random() >> 24);
    std::vector<float> a(64), b(64);
    for (std::size_t k = 0; k < 64; ++k) {
      a[k] = value();
      b[k] = i % 2 == 0 ? a[k] * (0.5f + static_cast<float>(random() % 1024) / 1024) : value();
    }
    std::vector<double> ya(64), yb(64);
    const int direction = i % 3 == 0 ? -1 : 1;
    oracle.rotate(position, direction, a.data(), b.data(), ya.data(), yb.data());
    for (std::size_t k = 0; k < 64; ++k) {
      const auto pair = static_cast<std::int64_t>(k);
      const Mpfr c = truth.at(position, pair, Function::cos),
                 s = direction * truth.at(position, pair, Function::sin);
      const double norm = std::hypot(static_cast<double>(a[k]), static_cast<double>(b[k]));
      worst = std::max(
          {worst, distance(a[k] * c - b[k] * s, ya[k]) / norm, distance(b[k] * c + a[k] * s, yb[k]) / norm});
    }
  }
  RecordProperty("worst_log2", std::to_string(std::log2(worst)));
  EXPECT_LE(worst, oracle.rotation_bound());
  EXPECT_GE(worst, oracle.rotation_bound() / 4);
}

// ---- produce ----

TEST(Oracle, ProducesCorrectlyRoundedValues) {
  std::mt19937_64 random(4);
  for (const std::string& text : kEncodings) {
    const Rope rope = rope_of(text);
    const Independent truth(rope, 1000);
    const Oracle oracle(rope, 1000, -300, 1 << 17);
    for (const Format* format : {&kFloat32, &kFloat16, &kBFloat16})
      for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{-70, 140},
                                         {131000, 20},
                                         {(std::int64_t{1} << 40) - 1, 2},
                                         {-(std::int64_t{1} << 35), 2}}) {
        const Table table = produce(oracle, *format, first, count);
        for (int i = 0; i < 60; ++i) {
          const std::int64_t m =
              first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
          const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(oracle.pairs()));
          for (int f = 0; f < 2; ++f) {
            const WorkingDigits scope(kDigits);
            const double got = table.get(table.index(m, k), f);
            const Mpfr exact = truth.at(m, k, static_cast<Function>(f));
            const double off = Mpfr(abs(Mpfr(got - exact)) / ulp_of(exact.convert_to<double>(), *format))
                                   .convert_to<double>();
            ASSERT_LE(off, 0.5 * (1 + 0x1p-50))
                << text << " " << format->name << " " << m << " " << k << " " << f;
          }
        }
      }
  }
}

// ---- check ----

// Whole tallies against the definition, with tables that are right, slightly wrong and damaged.
TEST(Oracle, TalliesAsDefined) {
  std::mt19937_64 random(5);
  for (const std::string& text : kEncodings) {
    const Rope rope = rope_of(text);
    const Independent truth(rope, 1000);
    const Oracle oracle(rope, 1000, -400, 1 << 17);
    for (const Format* format : {&kFloat32, &kFloat16, &kBFloat16})
      for (const auto& [first, count] :
           {std::pair<std::int64_t, std::int64_t>{-20, 50}, {70000, 10}, {1 << 25, 2}})
        for (int damage = 0; damage < 3; ++damage) {
          Table table = produce(oracle, *format, first, count);
          const std::size_t values = static_cast<std::size_t>(count * oracle.pairs());
          if (damage == 1)
            for (std::size_t i = 0; i < values; ++i)
              table.step(i, static_cast<int>(i % 2), static_cast<int>(random() % 9) - 4);
          if (damage == 2)
            for (int i = 0; i < 40; ++i) {
              const std::size_t at = random() % values;
              if (table.wide())
                table.f32[i % 2][at] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
              else
                table.b16[i % 2][at] = static_cast<std::uint16_t>(random());
            }
          SCOPED_TRACE(text + " " + std::string(format->name) + " from " + std::to_string(first) +
                       " damage " + std::to_string(damage));
          const Tally seen = check(oracle, table);
          expect_same(seen, definition(truth, table));
          EXPECT_TRUE(damage != 0 || seen.all.not_correctly_rounded == 0);
          if (::testing::Test::HasFailure()) return;
        }
  }
}

TEST(Oracle, FindsPlantedFlipsAndNothingElse) {
  std::mt19937_64 random(6);
  const Oracle oracle(rope_of("rope(dim=128,theta=500000)"), 1, 0, 1 << 14);
  Table table = produce(oracle, kFloat32, 0, 1 << 14);
  const std::size_t values = table.f32[0].size();
  constexpr std::size_t kFlips = 1000;
  for (std::size_t i = 0; i < kFlips; ++i) {
    const std::size_t stride = values / kFlips;
    table.step(64 + i * (stride - 1) + random() % (stride - 1), static_cast<int>(random() % 2),
               random() % 2 == 0 ? 1 : -1);
  }
  const Tally tally = check(oracle, table);
  EXPECT_EQ(tally.all.not_correctly_rounded, kFlips);
  EXPECT_EQ(tally.all.undecided, 0u);
  EXPECT_EQ(tally.all.nan, 0u);
}

// sin(0) = 0 has no binade: arithmetic on its exponent would accept anything.
TEST(Oracle, FindsDamageAtPositionZero) {
  for (const char* text :
       {"rope(dim=128,theta=500000)", "rope(dim=64,theta=10000,scaling=proportional(fraction=0.25))"}) {
    const Oracle oracle(rope_of(text), 1, 0, 256);
    for (const std::int64_t count : {1, 256})
      for (const float damage : {1e-45f, 1e-30f, 1e-8f, 0.5f, -0.5f, 2.0f, INFINITY, -INFINITY, NAN})
        for (const int f : {0, 1}) {
          Table table = produce(oracle, kFloat32, 0, count);
          const std::size_t pair = static_cast<std::size_t>(oracle.pairs()) - 1;
          table.f32[f][pair] = damage;
          const Tally tally = check(oracle, table);
          EXPECT_EQ(tally.all.not_correctly_rounded, 1u) << damage << " in " << f << " of " << count;
          EXPECT_EQ(tally.all.nan, std::isnan(damage) ? 1u : 0u);
          const auto& witness = std::isnan(damage) ? tally.first_nan : tally.worst;
          ASSERT_TRUE(witness);
          EXPECT_EQ(witness->position, 0);
          EXPECT_EQ(witness->pair, static_cast<std::int64_t>(pair));
          EXPECT_EQ(witness->function, static_cast<Function>(f));
          EXPECT_EQ(witness->want, f == 0 ? 1 : 0);
        }
  }
}

// The rungs by force: with raised bounds every value climbs, and every answer stays.
TEST(Oracle, EveryRungAgrees) {
  const Rope rope = rope_of("rope(dim=32,theta=10000,scaling=yarn(factor=32,original=4096,truncate=false))");
  const Oracle usual(rope, 1, 0, 1 << 12);
  Table table = produce(usual, kFloat32, 0, 300);
  for (std::size_t i = 0; i < table.f32[0].size(); i += 3) table.step(i, 1, static_cast<int>(i % 5) - 2);
  const Tally want = check(usual, table);
  const double none = 1e300;  // no value passes
  for (const OracleOptions& options :
       {OracleOptions{.table_bound = 0x1p-30}, OracleOptions{.table_bound = none},
        OracleOptions{.table_bound = none, .wide_bound = 0x1p-44},
        OracleOptions{.table_bound = none, .wide_bound = none}}) {
    const Oracle forced(rope, 1, 0, 1 << 12, options);
    expect_same(check(forced, table), want);
    const Table produced = produce(forced, kFloat32, 0, 300), sparse = produce(forced, kFloat32, 1, 2);
    const Table usually = produce(usual, kFloat32, 0, 300);
    EXPECT_EQ(produced.f32[0], usually.f32[0]);
    EXPECT_EQ(produced.f32[1], usually.f32[1]);
    EXPECT_TRUE(std::equal(sparse.f32[1].begin(), sparse.f32[1].end(), usually.f32[1].begin() + 16));
  }
  const Oracle blind(rope, 1, 0, 1 << 12, {.table_bound = none, .wide_bound = none, .precision_limit = 12});
  EXPECT_GT(check(blind, table).all.undecided, 1000u);
  Table guessed(kFloat32, 0, 300, blind.pairs());
  EXPECT_GT(blind.produce(0, 300, kFloat32, guessed.written(0), guessed.written(1)), 1000u);
}

// Targets, shards, threads and the sparse path: the same bytes.
TEST(Oracle, AgreesAcrossTargetsShardsAndThreads) {
  const Rope rope = rope_of("rope(dim=200,theta=10000,scaling=linear(factor=2))");
  for (const Format* format : {&kFloat32, &kFloat16, &kBFloat16}) {
    const Oracle oracle(rope, 1, -256, 8192);
    constexpr std::int64_t kFirst = -100, kCount = 3000;
    Table table = produce(oracle, *format, kFirst, kCount);
    std::mt19937_64 random(8);
    for (std::size_t i = 0; i < table.f32[0].size(); i += 1 + random() % 50)
      table.step(i, static_cast<int>(i % 2), 1);
    const Tally want = check(oracle, table);
    for (const std::string_view target : Oracle::targets()) {
      const Oracle other(rope, 1, 0, 5000, {.target = target});
      SCOPED_TRACE(target);
      expect_same(check(other, table), want);
      Table again(*format, kFirst, kCount, oracle.pairs()),
          reference = produce(oracle, *format, kFirst, kCount);
      EXPECT_EQ(other.produce(kFirst, kCount, *format, again.written(0), again.written(1)), 0u);
      for (int f = 0; f < 2; ++f) {
        EXPECT_EQ(again.f32[f], reference.f32[f]);
        EXPECT_EQ(again.b16[f], reference.b16[f]);
      }
    }
    const std::vector<std::int64_t> cuts = {0, 1, 3, 99, 100, 101, 163, 1000, 1064, 2999, kCount};
    std::vector<Tally> parts(cuts.size() - 1);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      threads.emplace_back([&, i] {
        const std::int64_t bytes = cuts[i] * table.pairs * (table.wide() ? 4 : 2);
        const auto from = [&](int f) {
          return GivenTable{static_cast<const char*>(table.data(f)) + bytes, table.pairs, 1};
        };
        parts[i] = oracle.check(kFirst + cuts[i], cuts[i + 1] - cuts[i], *format, from(0), from(1));
      });
    for (std::thread& thread : threads) thread.join();
    Tally merged;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) merged += *part;
    expect_same(merged, want);
  }
}

TEST(Oracle, ReadsAndWritesAnyForm) {
  const Oracle oracle(rope_of("rope(dim=40,theta=10000)"), 1, 0, 512);
  Table plain = produce(oracle, kFloat32, 0, 512);
  plain.step(777, 1, 3);
  const Tally want = check(oracle, plain);
  std::vector<float> polar(2 * plain.f32[0].size()), half_half(polar.size());
  for (std::size_t i = 0; i < plain.f32[0].size(); ++i)
    for (std::size_t f = 0; f < 2; ++f) {
      polar[2 * i + f] = plain.f32[f][i];
      half_half[i / 20 * 40 + f * 20 + i % 20] = plain.f32[f][i];
    }
  expect_same(oracle.check(0, 512, kFloat32, {polar.data(), 40, 2}, {polar.data() + 1, 40, 2}), want);
  expect_same(oracle.check(0, 512, kFloat32, {half_half.data(), 40, 1}, {half_half.data() + 20, 40, 1}),
              want);
  // A table in descending order, read backwards.
  std::vector<float> reversed[2];
  for (int f = 0; f < 2; ++f)
    for (std::size_t row = 512; row-- > 0;)
      reversed[f].insert(reversed[f].end(), plain.f32[f].begin() + 20 * row,
                         plain.f32[f].begin() + 20 * (row + 1));
  expect_same(oracle.check(0, 512, kFloat32, {reversed[0].data() + 511 * 20, -20, 1},
                           {reversed[1].data() + 511 * 20, -20, 1}),
              want);

  plain.step(777, 1, -3);
  std::vector<float> written(polar.size());
  EXPECT_EQ(oracle.produce(0, 512, kFloat32, {written.data(), 40, 2}, {written.data() + 1, 40, 2}), 0u);
  for (std::size_t i = 0; i < plain.f32[0].size(); ++i) {
    ASSERT_EQ(written[2 * i], plain.f32[0][i]);
    ASSERT_EQ(written[2 * i + 1], plain.f32[1][i]);
  }
}

// Cases nearest to a float32 midpoint in tables of 2^20 rows, found by an exhaustive search (oracle design,
// section 6).
TEST(Oracle, DecidesTheHardestCases) {
  struct Hard {
    const char* rope;
    std::int64_t position, pair;
    Function function;
  };
  for (const Hard& hard : {Hard{"rope(dim=128,theta=500000)", 548383, 19, Function::cos},
                           Hard{"rope(dim=128,theta=500000)", 127099, 51, Function::sin},
                           Hard{"rope(dim=128,theta=500000)", 44, 57, Function::sin},
                           Hard{"rope(dim=128,theta=500000)", 59525, 7, Function::cos},
                           Hard{"rope(dim=128,theta=10000)", 69891, 28, Function::sin},
                           Hard{"rope(dim=128,theta=1000000)", 74491, 11, Function::cos}}) {
    const Rope rope = rope_of(hard.rope);
    const Independent truth(rope, 1);
    const Oracle oracle(rope, 1, 0, 1 << 20);
    Table table = produce(oracle, kFloat32, hard.position - 2, 8);
    expect_same(check(oracle, table), definition(truth, table));
    for (const int steps : {1, -2}) {
      table.step(table.index(hard.position, hard.pair), static_cast<int>(hard.function), steps);
      expect_same(check(oracle, table), definition(truth, table));
    }
  }
}

TEST(Oracle, ArbitraryEncodings) {
  expect_property("small tables are produced and judged as defined", [](const Rope& rope) {
    const std::int64_t seq_len = *uniform<std::int64_t>(1, 100000);
    const std::int64_t first = *uniform<std::int64_t>(-100, 100000);
    const Oracle oracle(rope, seq_len, first, first + 6);
    Table table = produce(oracle, kFloat32, first, 6);
    table.step(static_cast<std::size_t>(oracle.pairs()), 1, *uniform(-3, 4));
    const Tally got = check(oracle, table), want = definition(Independent(rope, seq_len), table);
    RC_ASSERT(got.all == want.all);
    RC_ASSERT(got.octaves == want.octaves);
    RC_ASSERT(got.worst->position == want.worst->position && got.worst->pair == want.worst->pair);
  });
}

TEST(Oracle, RefusesWhatItCannotServe) {
  const Rope rope = rope_of("rope(dim=8,theta=10000)");
  EXPECT_THROW(Oracle(rope, 1, 5, 4), InputError);
  EXPECT_THROW(Oracle(rope, 1, 0, (std::int64_t{1} << 40) + 2), InputError);
  EXPECT_THROW(Oracle(rope, 1, 0, 1, {.target = "abacus"}), InputError);
  const std::vector<float> nan = {NAN};
  EXPECT_THROW((void)Oracle::from_stored(nan, 1, 0, 1), InputError);
  EXPECT_THROW((void)Oracle::from_stored(std::vector<float>{1}, 0, 0, 1), InputError);
  const Oracle oracle(rope, 1, 0, 16);
  EXPECT_THROW((void)oracle.check(0, 1, kFloat64, {}, {}), InputError);
  EXPECT_THROW((void)oracle.wide((std::int64_t{1} << 40) + 1, 0), InputError);
}

}  // namespace
}  // namespace sextant
