// The definitions against each other over three number types, and against the check values of the literature.
#include "sextant/reference/rope.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/decide.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rope/yarn.hpp"

namespace sextant {
namespace {

/// Relative width and mutual distance at 60 digits, the dozen operations of a scheme losing a few.
constexpr double kAgreement = 1e-52;

TEST(rope, mpfr_cpp_bin_float_and_intervals_agree_on_random_encodings) {
  expect_property("frequencies", [] {
    const Rope rope = *arbitrary_rope();
    const auto seq_len = *uniform<std::int64_t>(1, std::int64_t{1} << 21);
    const auto position = *uniform<std::int64_t>(-(std::int64_t{1} << 31), std::int64_t{1} << 31);
    const WorkingDigits scope(60);
    const Frequencies<Mpfr> mpfr = frequencies<Mpfr>(rope, seq_len);
    const Frequencies<Interval> interval = frequencies<Interval>(rope, seq_len);
    const Frequencies<Bin100> bin = frequencies<Bin100>(rope, seq_len);
    const auto agree = [](const Mpfr& a, const Interval& b, const Bin100& c, double scale) {
      const Mpfr slack(scale * kAgreement);
      RC_ASSERT(Mpfr(upper(b) - lower(b)) <= slack);
      RC_ASSERT(Mpfr(lower(b) - slack) <= a);
      RC_ASSERT(a <= Mpfr(upper(b) + slack));
      RC_ASSERT(abs(Mpfr(c.str(0)) - a) <= slack);
    };
    for (std::size_t i = 0; i < mpfr.inv_freq.size(); ++i) {
      agree(mpfr.inv_freq[i], interval.inv_freq[i], bin.inv_freq[i], mpfr.inv_freq[i].convert_to<double>());
    }
    agree(mpfr.attention_factor, interval.attention_factor, bin.attention_factor, 4);
    const TableRow<Mpfr> row = table_row(mpfr, position, TableForm::half);
    const TableRow<Interval> interval_row = table_row(interval, position, TableForm::half);
    const TableRow<Bin100> bin_row = table_row(bin, position, TableForm::half);
    for (std::size_t i = 0; i < row.cos.size(); ++i) {
      agree(row.cos[i], interval_row.cos[i], bin_row.cos[i], 4 * std::ldexp(1, 32));
      agree(row.sin[i], interval_row.sin[i], bin_row.sin[i], 4 * std::ldexp(1, 32));
    }
  });
}

struct CheckValue {
  const char* encoding;
  std::int64_t seq_len;
  int pair;  // -1: attention factor
  const char* value;
};

// Computed with mpmath at 80 digits, apart from this project.
const CheckValue kCheckValues[] = {
    {"rope(dim=128,theta=10000)", 1, 1, "0.86596432336006535235"},
    {"rope(dim=128,theta=10000)", 1, 7, "0.36517412725483770582"},
    {"rope(dim=128,theta=10000)", 1, 32, "0.01"},
    {"rope(dim=128,theta=10000)", 1, 63, "0.00011547819846894581797"},
    {"rope(dim=128,theta=500000)", 1, 1, "0.81461723385654470410"},
    {"rope(dim=128,theta=500000)", 1, 63, "2.4551407911316088712e-6"},
    {"rope(dim=96,theta=1000000)", 1, 1, "0.74989420933245582730"},
    {"rope(dim=96,theta=1000000)", 1, 47, "1.3335214321633240257e-6"},
    {"rope(dim=128,theta=10000,scaling=linear(factor=4))", 1, 1, "0.21649108084001633809"},
    {"rope(dim=128,theta=10000,scaling=linear(factor=4))", 1, 63, "0.000028869549617236454492"},
    {"rope(dim=128,theta=10000,scaling=ntk(factor=4))", 1, 1, "0.84711718515120681339"},
    {"rope(dim=128,theta=10000,scaling=ntk(factor=4))", 1, 32, "0.0049452898406803665738"},
    {"rope(dim=128,theta=10000,scaling=ntk(factor=4))", 1, 63, "0.000028869549617236454492"},
    {"rope(dim=128,theta=10000,scaling=alpha(alpha=1000))", 1, 1, "0.77603436304697441130"},
    {"rope(dim=128,theta=10000,scaling=alpha(alpha=1000))", 1, 63, "1.1547819846894581797e-7"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 2048, 1,
     "0.86596432336006535235"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 2049, 1,
     "0.86595090670798156884"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 2049, 63,
     "0.00011536553681190294400"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 4096, 1,
     "0.85099429134121622994"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 4096, 63,
     "0.000038492732822981939322"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 8192, 1,
     "0.83962574256431139110"},
    {"rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))", 8192, 63,
     "0.000016496885495563688281"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))", 1, 20, "0.056234132519034908039"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))", 1, 25, "0.023434552639377707229"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))", 1, 33, "0.0054122770210004084522"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))", 1, 45, "0.00042940258899735834325"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))", 1, -1, "1.1386294361119890619"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096,truncate=false))", 1, 20,
     "0.056234132519034908039"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096,truncate=false))", 1, 25,
     "0.023925536288889758944"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096,truncate=false))", 1, 33,
     "0.0054084154801854513928"},
    {"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096,truncate=false))", 1, 45,
     "0.00038627080494978242042"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))", 1, 8, "0.050813274815461473628"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))", 1, 12, "0.0070157139105043882457"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))", 1, 17, "0.00022794779579512526326"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))", 1, -1, "1.3465735902799726547"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))", 1, 8,
     "0.050813274815461473628"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))", 1, 12,
     "0.0067949594897322178331"},
    {"rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))", 1, 17,
     "0.00012931870124506272061"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 1, 10, "0.056234132519034908039"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 1, 16, "0.0055"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 1, 22, "0.00017782794100389228012"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 1, 23, "0.000033338035804083100642"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 1, -1, "1.3688879454113936303"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096,mscale=1,mscale_all_dim=0.707))", 1, -1,
     "1.0857263992561356641"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096,mscale=0.707,mscale_all_dim=1))", 1, -1,
     "0.92104235531633988078"},
    {"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096,mscale=0.9,mscale_all_dim=0.9))", 1, -1,
     "1"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 28,
     "0.0032114459947525910185"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 29,
     "0.0021665707635033586093"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 30,
     "0.0013718935677611381604"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 31,
     "0.00085675141291963208107"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 32,
     "0.00052484616099295466973"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 33,
     "0.00031269375038406513222"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 34,
     "0.00017850781276799641852"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 35,
     "0.000095562123539646830199"},
    {"rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))", 1, 63,
     "3.0689259889145110891e-7"},
    {"rope(dim=64,theta=500000,scaling=llama3(factor=32,low=1,high=4,original=8192))", 1, 15,
     "0.0012905479282092638184"},
    {"rope(dim=64,theta=500000,scaling=llama3(factor=32,low=1,high=4,original=8192))", 1, 16,
     "0.00042955679655936820054"},
    {"rope(dim=64,theta=500000,scaling=llama3(factor=32,low=1,high=4,original=8192))", 1, 17,
     "0.000097082878026276722608"},
    {"rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))", 1, 1, "0.94746352565537539776"},
    {"rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))", 1, 63, "0.033376246942920385462"},
    {"rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))", 1, 64, "0"},
};

/// Equal to `value` to the digits it is written with.
void expect_value(const Mpfr& got, const char* value, const std::string& where) {
  const Mpfr want(value);
  if (want == 0) {
    EXPECT_EQ(got, 0) << where;
    return;
  }
  EXPECT_LT(Mpfr(abs(got - want) / abs(want)).convert_to<double>(), 0.51e-18) << where << ": " << got.str(22);
}

TEST(rope, check_values_of_the_schemes) {
  const WorkingDigits scope(50);
  for (const CheckValue& check : kCheckValues) {
    const Frequencies<Mpfr> f =
        frequencies<Mpfr>(std::get<Rope>(parse_encoding(check.encoding)), check.seq_len);
    expect_value(check.pair < 0 ? f.attention_factor : f.inv_freq[static_cast<std::size_t>(check.pair)],
                 check.value, std::string(check.encoding) + " pair " + std::to_string(check.pair));
  }
}

TEST(rope, check_values_of_cos_and_sin) {
  const WorkingDigits scope(50);
  struct Point {
    const char* encoding;
    std::int64_t position;
    std::size_t pair;
    const char *cos, *sin;
  };
  for (const Point& point : {
           Point{"rope(dim=128,theta=10000)", 1000, 1, "0.43995386270170782067", "-0.89802037766068918093"},
           Point{"rope(dim=128,theta=10000)", 131071, 0, "-0.81798349938794908071",
                 "-0.57524168375478937114"},
           Point{"rope(dim=128,theta=10000)", 131071, 1, "-0.97827091293645223750",
                 "-0.20733070419617130666"},
           Point{"rope(dim=128,theta=10000)", 1048575, 1, "0.12116824886022296745", "0.99263198390347420618"},
           Point{"rope(dim=128,theta=500000)", 131071, 63, "0.94866836970291608633",
                 "0.31627254753647418676"},
           Point{"rope(dim=128,theta=10000,scaling=linear(factor=4))", 1000, 1, "-0.96138299963726823685",
                 "0.27521396768414262512"},
       }) {
    const TableRow<Mpfr> row = table_row(frequencies<Mpfr>(std::get<Rope>(parse_encoding(point.encoding)), 1),
                                         point.position, TableForm::half);
    expect_value(row.cos[point.pair], point.cos, point.encoding);
    expect_value(row.sin[point.pair], point.sin, point.encoding);
  }
}

TEST(rope, longrope_switches_past_the_original_length_and_its_factor_does_not) {
  const WorkingDigits scope(50);
  const Rope rope = std::get<Rope>(parse_encoding(
      "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,2],long=[4,8]))"));
  for (const auto& [seq_len, w] : {std::pair{4096, "0.005"}, std::pair{4097, "0.00125"}}) {
    const Frequencies<Mpfr> f = frequencies<Mpfr>(rope, seq_len);
    expect_value(f.inv_freq[1], w, "longrope");
    expect_value(f.attention_factor, "1.1902380714238083330", "longrope");
  }
  Rope phi = rope;
  std::get<scaling::LongRope>(phi.scaling).factor = 4;
  expect_value(frequencies<Mpfr>(phi, 1).attention_factor, "1.0801234497346433718", "longrope");
}

// (d, theta, L, s) -> low, high of the ramp, degenerate ranges included.
TEST(rope, yarn_ranges) {
  struct Range {
    const char* encoding;
    std::int64_t low, high;
    bool widened;
  };
  for (const Range& range : {
           Range{"rope(dim=128,theta=10000,scaling=yarn(factor=10,original=4096))", 20, 46, false},
           Range{"rope(dim=64,theta=10000,scaling=yarn(factor=40,original=4096))", 10, 23, false},
           Range{"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4))", 0, -3, false},
           Range{"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=6))", 0, 0, true},
           Range{"rope(dim=128,theta=10,scaling=yarn(factor=4,original=65536))", 160, 127, false},
           Range{"rope(dim=128,theta=1000000,scaling=yarn(factor=3,original=262144))", 33, 50, false},
           Range{"rope(dim=128,theta=1000000,scaling=yarn(factor=3,original=1048576))", 39, 56, false},
       }) {
    const Rope rope = std::get<Rope>(parse_encoding(range.encoding));
    const YarnRamp ramp = decide_yarn_ramp(rope, std::get<scaling::Yarn>(rope.scaling));
    EXPECT_EQ(*ramp.low.integer, range.low) << range.encoding;
    EXPECT_EQ(*ramp.high.integer, range.high) << range.encoding;
    EXPECT_EQ(ramp.widened, range.widened) << range.encoding;
  }
}

// Degenerate ranges as HuggingFace computes them.
TEST(rope, yarn_degenerate_ranges) {
  const WorkingDigits scope(50);
  const auto ratio = [](const char* scaling, const char* theta, std::size_t pair) {
    const std::string plain = std::string("rope(dim=128,theta=") + theta;
    const Mpfr scaled =
        frequencies<Mpfr>(std::get<Rope>(parse_encoding(plain + ",scaling=" + scaling + ")")), 1)
            .inv_freq[pair];
    const Mpfr base = frequencies<Mpfr>(std::get<Rope>(parse_encoding(plain + ")")), 1).inv_freq[pair];
    return Mpfr(scaled / base).convert_to<double>();
  };
  for (const std::size_t pair : {0, 1, 63}) {
    EXPECT_EQ(ratio("yarn(factor=4,original=4)", "10000", pair), 1) << pair;
    EXPECT_EQ(ratio("yarn(factor=4,original=6)", "10000", pair), pair == 0 ? 1 : 0.25) << pair;
    EXPECT_EQ(ratio("yarn(factor=4,original=65536)", "10", pair), 0.25) << pair;
  }
  // Equal betas without rounding: low = high, decided symbolically, widened by 1/1000.
  const double equal =
      ratio("yarn(factor=4,original=4096,beta_fast=32,beta_slow=32,truncate=false)", "10000", 20);
  EXPECT_EQ(equal, 1);
  EXPECT_EQ(ratio("yarn(factor=4,original=4096,beta_fast=32,beta_slow=32,truncate=false)", "10000", 21),
            0.25);
}

TEST(rope, the_llama3_band_of_a_crossed_range_is_huggingfaces) {
  const WorkingDigits scope(50);
  const Rope rope = std::get<Rope>(
      parse_encoding("rope(dim=64,theta=10000,scaling=llama3(factor=8,low=4,high=1,original=8192))"));
  const Rope plain = std::get<Rope>(parse_encoding("rope(dim=64,theta=10000)"));
  const Frequencies<Mpfr> f = frequencies<Mpfr>(rope, 1);
  const Frequencies<Mpfr> base = frequencies<Mpfr>(plain, 1);
  for (std::size_t i = 0; i < 32; ++i) {
    const bool beyond = 2 * pi<Mpfr>() / base.inv_freq[i] > Mpfr(8192) / 4;
    EXPECT_LT(abs(f.inv_freq[i] - (beyond ? Mpfr(base.inv_freq[i] / 8) : base.inv_freq[i])), Mpfr(1e-45));
  }
}

TEST(rope, table_forms_hold_the_same_numbers) {
  expect_property("forms", [] {
    const Rope rope = *arbitrary_rope(8);
    const Frequencies<double> f = frequencies<double>(rope, 100);
    const auto position = *uniform<std::int64_t>(0, 1000);
    const TableRow<double> half = table_row(f, position, TableForm::half);
    for (const TableForm form :
         {TableForm::duplicated, TableForm::repeated, TableForm::half_half, TableForm::polar}) {
      const TableRow<double> row = table_row(f, position, form);
      RC_ASSERT(row.cos.size() == static_cast<std::size_t>(row_width(form, rope.pairs())));
      const std::vector<double>& sin_row = holds_both(form) ? row.cos : row.sin;
      for (std::int64_t i = 0; i < rope.pairs(); ++i) {
        const TableSlots slots = table_slots(form, rope.pairs(), i);
        for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
          RC_ASSERT(row.cos[static_cast<std::size_t>(slots.cos + copy * slots.copy_step)] ==
                    half.cos[static_cast<std::size_t>(i)]);
          RC_ASSERT(sin_row[static_cast<std::size_t>(slots.sin + copy * slots.copy_step)] ==
                    half.sin[static_cast<std::size_t>(i)]);
        }
      }
    }
  });
}

TEST(decide, floors_and_signs_go_on_until_they_are_sure) {
  // 1e-50 above 3: undecided at 40 digits, decided at 80.
  const auto near = [] { return Interval(Interval(3) + pow(Interval(10), Interval(-50)) * pi<Interval>()); };
  EXPECT_EQ(floor_of(near), 3);
  EXPECT_EQ(ceil_of(near), 4);
  EXPECT_EQ(sign_of([&] { return Interval(near() - 3); }), 1);
  EXPECT_EQ(floor_of([] { return Interval(-7) / 2; }), -4);
  EXPECT_EQ(floor_of([] { return Interval(1e30); }), std::int64_t{1} << 62);
  EXPECT_THROW((void)sign_of([] { return Interval(sqrt(Interval(2)) * sqrt(Interval(2)) - 2); }), Undecided);
}

}  // namespace
}  // namespace sextant
