#include "sextant/reference/decimal.hpp"

#include <fmt/format.h>

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/table.hpp"

namespace sextant {
namespace {

std::string inv_freq_text(const char* encoding, std::size_t pair, unsigned digits, std::int64_t seq_len = 1) {
  const Rope rope = std::get<Rope>(parse_encoding(encoding));
  return print_table({rope, seq_len, {}, digits, nullptr}, [](std::size_t) {}).inv_freq[pair];
}

RC_GTEST_PROP(decimal, prints_doubles_as_the_c_library_does, (std::int64_t bits)) {
  const double value = std::ldexp(static_cast<double>(bits), *uniform(-80, 0));
  const unsigned digits = *uniform(1u, 30u);
  const std::string text = decimal_of({[&] { return Interval(value); }}, digits);
  if (value == 0) {
    RC_ASSERT(text == "0");
    return;
  }
  // printf rounds exactly, ties to even, and so must we.
  double back = 0;
  double want = 0;
  sscanf(text.c_str(), "%lf", &back);
  sscanf(fmt::format("{:.{}e}", value, digits - 1).c_str(), "%lf", &want);
  RC_ASSERT(back == want);
}

TEST(decimal, ties_of_rational_frequencies_are_decided_symbolically) {
  // theta = 16, d = 4: w_1 = 16^(-1/2) = 1/4 exactly, a tie at one digit, and no interval would ever tell.
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=16)", 1, 1), "0.2");
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=16)", 1, 2), "0.25");
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=16)", 1, 5), "0.25000");
  // d = 4, theta = 4, s = 4: base 4 * 4^2 = 64, w_1 = 1/8.
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=4,scaling=ntk(factor=4))", 1, 2), "0.12");
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=64,scaling=linear(factor=4))", 1, 4), "0.03125");
  EXPECT_EQ(inv_freq_text("rope(dim=4,theta=64,scaling=linear(factor=4))", 1, 3), "0.0312");
  // Yarn, d = 64, L = 4096, s = 40: w_16 = 0.0055 exactly.
  EXPECT_EQ(inv_freq_text("rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 16, 30),
            "0.00550000000000000000000000000000");
  EXPECT_EQ(inv_freq_text("rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 16, 1), "0.006");
  EXPECT_EQ(inv_freq_text("rope(dim=128,theta=10000)", 32, 40),
            "0.01000000000000000000000000000000000000000");
}

TEST(decimal, a_rational_attention_factor_is_decided_symbolically) {
  // sqrt(1 + ln 32 / ln 16) = sqrt(2.25) = 1.5, a tie at one digit.
  const Rope rope = std::get<Rope>(parse_encoding(
      "rope(dim=4,theta=10000,scaling=longrope(original=16,factor=32,short=[1,1],long=[1,1]))"));
  EXPECT_EQ(print_table({rope, 1, {}, 1, nullptr}, [](std::size_t) {}).attention_factor, "2");
  EXPECT_EQ(print_table({rope, 1, {}, 3, nullptr}, [](std::size_t) {}).attention_factor, "1.50");
}

TEST(decimal, exact_zeros_print_as_zero) {
  const Rope rope =
      std::get<Rope>(parse_encoding("rope(dim=8,theta=10000,scaling=proportional(fraction=0.5))"));
  const PrintedTable table = print_table({rope, 1, {0, 5}, 10, nullptr}, [](std::size_t) {});
  EXPECT_EQ(table.inv_freq[3], "0");
  EXPECT_EQ(table.sin[0][0], "0");
  EXPECT_EQ(table.sin[1][3], "0");
  EXPECT_EQ(table.cos[1][3], "1.000000000");
}

TEST(decimal, longer_prints_refine_shorter_ones) {
  expect_property("prefix", [] {
    const Rope rope = *arbitrary_rope(4);
    const auto position = *uniform<std::int64_t>(1, std::int64_t{1} << 31);
    const auto print = [&](unsigned digits) {
      return print_table({rope, position + 1, {position}, digits, nullptr}, [](std::size_t) {});
    };
    const PrintedTable coarse = print(12);
    const PrintedTable fine = print(60);
    const WorkingDigits scope(100);
    for (std::size_t i = 0; i < coarse.cos[0].size(); ++i) {
      const Mpfr truth(fine.cos[0][i]);
      const Mpfr rounded(coarse.cos[0][i]);
      // Half a unit of the twelfth digit, the longer text being the truth to 60.
      const Mpfr unit = pow(Mpfr(10), floor(Mpfr(log10(abs(truth)))) - 11);
      RC_ASSERT(abs(truth - rounded) <= unit * (Mpfr(1) / 2 + Mpfr(10) / pow(Mpfr(10), 40)));
    }
  });
}

TEST(decimal, nearest_values_are_the_conversions_of_ieee) {
  expect_property("nearest", [] {
    const auto bits = *rc::gen::arbitrary<std::uint64_t>();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    RC_PRE(std::isfinite(value));
    const double scaled = std::ldexp(std::frexp(value, &*std::make_unique<int>()), *uniform(-160, 130));
    const WorkingDigits scope(40);
    RC_ASSERT(nearest_of(Mpfr(scaled), kFloat32) == double{static_cast<float>(scaled)});
    RC_ASSERT(round_to(scaled, kFloat32) == double{static_cast<float>(scaled)});
    RC_ASSERT(nearest_of(Mpfr(scaled), kFloat64) == scaled);
  });
}

TEST(table, rounded_tables_are_correctly_rounded) {
  expect_property("rounded", [] {
    const Rope rope = *arbitrary_rope(4);
    const auto position = *uniform<std::int64_t>(-1000, std::int64_t{1} << 31);
    const Format format = *rc::gen::element(kFloat32, kFloat16, kBFloat16, kFloat64);
    const std::int64_t seq_len = std::max<std::int64_t>(1, position + 1);
    const RoundedTable table =
        round_table({rope, seq_len, {position}, 0, &format}, false, [](std::size_t) {});
    const WorkingDigits scope(120);
    const TableRow<Mpfr> want = table_row(frequencies<Mpfr>(rope, seq_len), position, TableForm::half);
    for (std::size_t i = 0; i < table.cos.size(); ++i) {
      RC_ASSERT(table.cos[i] == nearest_of(want.cos[i], format));
      RC_ASSERT(table.sin[i] == nearest_of(want.sin[i], format));
    }
  });
}

}  // namespace
}  // namespace sextant
