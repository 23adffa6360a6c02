#include "sextant/reference/alibi.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/decimal.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/rounded.hpp"

namespace sextant {
namespace {

Alibi alibi_of(const std::string& text) { return std::get<Alibi>(parse_encoding(text)); }

std::vector<std::string> printed(const Alibi& alibi, unsigned digits) {
  std::vector<std::string> all;
  for (std::int64_t h = 0; h < alibi.heads; ++h) all.push_back(printed_slope(alibi, h, digits));
  return all;
}

TEST(alibi, check_values) {
  const std::vector<std::string> first_eight = {"0.5",     "0.25",     "0.125",     "0.0625",
                                                "0.03125", "0.015625", "0.0078125", "0.00390625"};
  std::vector<std::string> twelve = first_eight;
  for (const char* slope : {"0.70710678118654752440", "0.35355339059327376220", "0.17677669529663688110",
                            "0.088388347648318440550"})
    twelve.emplace_back(slope);
  const auto same = [](const std::vector<std::string>& got, const std::vector<std::string>& want) {
    ASSERT_EQ(got.size(), want.size());
    const WorkingDigits scope(40);
    for (std::size_t h = 0; h < got.size(); ++h) EXPECT_EQ(Mpfr(got[h]), Mpfr(want[h])) << h;
  };
  same(printed(alibi_of("alibi(heads=8)"), 20), first_eight);
  same(printed(alibi_of("alibi(heads=12)"), 20), twelve);
  same(printed(alibi_of("alibi(heads=6)"), 20), {"0.25", "0.0625", "0.015625", "0.00390625", "0.5", "0.125"});
  same(printed(alibi_of("alibi(heads=6,bias_max=4)"), 20),
       {"0.5", "0.25", "0.125", "0.0625", "0.70710678118654752440", "0.35355339059327376220"});
}

TEST(alibi, golden_slopes_agree_to_38_digits) {
  const auto golden = nlohmann::json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/fixtures/golden/golden.json"));
  std::size_t values = 0;
  const WorkingDigits scope(60);
  for (const auto& entry : golden.at("alibi")) {
    const Alibi alibi{entry.at("heads"), 8, Alibi::Form::relative, 0};
    ASSERT_EQ(entry.at("slopes").size(), static_cast<std::size_t>(alibi.heads));
    for (std::int64_t h = 0; h < alibi.heads; ++h, ++values) {
      const Mpfr got(printed_slope(alibi, h, 40));
      const Mpfr want(entry.at("slopes")[static_cast<std::size_t>(h)].get<std::string>());
      EXPECT_LE(Mpfr(abs(got - want) / want).convert_to<double>(), 1e-38) << alibi.heads << " " << h;
    }
  }
  EXPECT_EQ(golden.at("alibi").size(), 13u);
  EXPECT_EQ(values, 351u);
}

/// Every head count up to 128, and ranges of biases that are whole, dyadic and neither.
template <class Visit>
void each_alibi(Visit visit) {
  for (const double bias_max : {8.0, 4.0, 16.0, 1.0, 7.3, 0.1}) {
    for (std::int64_t heads = 1; heads <= 128; ++heads)
      visit(Alibi{heads, bias_max, Alibi::Form::relative, 0});
  }
}

TEST(alibi, every_recipe_means_the_definition) {
  const WorkingDigits scope(50);
  each_alibi([](const Alibi& alibi) {
    const std::vector<Interval> bloom = bloom_slopes<Interval>(alibi), ggml = ggml_slopes<Interval>(alibi),
                                mpt = mpt_slopes<Interval>(alibi), paper = paper_slopes<Interval>(alibi);
    for (const auto* recipe : {&bloom, &ggml, &mpt, &paper}) {
      ASSERT_EQ(recipe->size(), static_cast<std::size_t>(alibi.heads));
      for (std::int64_t h = 0; h < alibi.heads; ++h) {
        const Interval value = slope<Interval>(alibi, h), other = (*recipe)[static_cast<std::size_t>(h)];
        EXPECT_TRUE(lower(value) <= upper(other) && lower(other) <= upper(value)) << alibi.heads << " " << h;
        EXPECT_LT(Mpfr(upper(other) - lower(other)), Mpfr(1e-40) * Mpfr(upper(value)));
      }
    }
  });
}

TEST(alibi, slopes_fall_within_each_family_and_the_second_lies_between) {
  const WorkingDigits scope(50);
  each_alibi([](const Alibi& alibi) {
    const std::int64_t c = slope_exponent(alibi.heads, 0).denominator;
    for (std::int64_t h = 0; h + 1 < alibi.heads; ++h) {
      if (h + 1 == c) continue;
      EXPECT_GT(lower(slope<Interval>(alibi, h)), upper(slope<Interval>(alibi, h + 1)));
    }
    for (std::int64_t h = c; h < alibi.heads; ++h) {
      EXPECT_GT(lower(slope<Interval>(alibi, h)), upper(slope<Interval>(alibi, h - c)));
      if (h == c) continue;
      EXPECT_LT(upper(slope<Interval>(alibi, h)), lower(slope<Interval>(alibi, h - c - 1)));
    }
    // The last of the first family is 2^-bias_max, whatever the heads.
    EXPECT_EQ(printed_slope(alibi, c - 1, 30), printed_slope({1, alibi.bias_max, {}, 0}, 0, 30));
  });
}

/// The slope of a recipe whose pow is correctly rounded, in units of 2^-24 off the exact one.
double deviation(const Alibi& alibi, bool mpt) {
  const WorkingDigits scope(60);
  const auto rounded = [](const Mpfr& value) { return Mpfr(nearest_of(value, kFloat32)); };
  const std::int64_t c = slope_exponent(alibi.heads, 0).denominator;
  const std::int64_t n = c == alibi.heads ? c : 2 * c;
  double worst = 0;
  for (std::int64_t h = 0; h < alibi.heads; ++h) {
    const auto [power, denominator] = slope_exponent(alibi.heads, h);
    const Mpfr exact = slope<Mpfr>(alibi, h);
    const Mpfr base = rounded(slope_power<Mpfr>(alibi.bias_max, {1, denominator}));
    const Mpfr exponent = rounded(Mpfr(alibi.bias_max) * Mpfr(power * (n / denominator)) / Mpfr(n));
    const Mpfr raised = mpt ? Mpfr(1) / rounded(pow(Mpfr(2), exponent)) : pow(base, Mpfr(power));
    worst = std::max(worst, Mpfr(abs(rounded(raised) - exact) / exact).convert_to<double>() * 0x1p24);
  }
  return worst;
}

TEST(alibi, recipes_are_off_by_what_they_round) {
  const std::vector<std::tuple<std::int64_t, double, double>> known = {
      {8, 0, 0},        {12, 1.70, 0.29},  {16, 5.0, 0.29},   {32, 8.0, 0.54},
      {64, 6.78, 0.54}, {112, 8.44, 1.23}, {128, 11.33, 1.23}};
  for (const auto& [heads, bloom, mpt] : known) {
    const Alibi alibi{heads, 8, Alibi::Form::relative, 0};
    EXPECT_NEAR(deviation(alibi, false), bloom, 0.005 + bloom * 1e-3) << heads;
    EXPECT_NEAR(deviation(alibi, true), mpt, 0.005) << heads;
  }
  // Ours are the nearest float32, for every number of heads and range of biases.
  each_alibi([](const Alibi& alibi) {
    const WorkingDigits scope(60);
    for (std::int64_t h = 0; h < alibi.heads; ++h) {
      const double got = nearest_slope(alibi, h, kFloat32);
      const Mpfr exact = slope<Mpfr>(alibi, h);
      EXPECT_LE(Mpfr(abs(Mpfr(got) - exact)).convert_to<double>(),
                ulp_of(exact.convert_to<double>(), kFloat32) / 2)
          << alibi.heads << " " << h;
    }
  });
}

TEST(alibi, float32_recipes_keep_the_bounds_of_their_roundings) {
  double closest = 0;
  each_alibi([&](const Alibi& alibi) {
    const std::vector<std::pair<std::vector<float>, std::vector<Rounded<24>>>> recipes = {
        {bloom_slopes<float>(alibi), bloom_slopes<Rounded<24>>(alibi)},
        {ggml_slopes<float>(alibi), ggml_slopes<Rounded<24>>(alibi)},
        {mpt_slopes<float>(alibi), mpt_slopes<Rounded<24>>(alibi)}};
    const WorkingDigits scope(40);
    for (const auto& [got, bounded] : recipes) {
      for (std::int64_t h = 0; h < alibi.heads; ++h) {
        const auto i = static_cast<std::size_t>(h);
        const double error = Mpfr(abs(Mpfr(got[i]) - slope<Mpfr>(alibi, h))).convert_to<double>();
        ASSERT_LE(error, bounded[i].error()) << alibi.heads << " " << h << " " << alibi.bias_max;
        if (bounded[i].error() > 0) closest = std::max(closest, error / bounded[i].error());
      }
    }
  });
  EXPECT_GT(closest, 0.25);
}

TEST(alibi, forms) {
  using Form = Alibi::Form;
  Alibi alibi{4, 8, Form::relative, 0};
  const auto at = [&](Form form, std::int64_t query, std::int64_t key, std::int64_t last) {
    alibi.form = form;
    alibi.head_dim = form == Form::falcon ? 64 : 0;
    return bias(alibi, 0.5, multiplier(form, query, key, last));
  };
  EXPECT_EQ(at(Form::relative, 10, 7, 12), -1.5);
  EXPECT_EQ(at(Form::relative, 7, 10, 12), 1.5);
  EXPECT_EQ(at(Form::symmetric, 7, 10, 12), -1.5);
  EXPECT_EQ(at(Form::symmetric, 10, 7, 12), -1.5);
  EXPECT_EQ(at(Form::key, 10, 7, 12), 3.5);
  EXPECT_EQ(at(Form::last_key, 10, 7, 12), -2.5);
  EXPECT_EQ(at(Form::falcon, 10, 7, 12), 3.5 / 8);
  EXPECT_EQ(at(Form::sqrt, 16, 7, 16), -1.5);
  EXPECT_EQ(at(Form::sqrt, 7, 16, 16), 0);
}

TEST(alibi, refuses) {
  for (const char* text :
       {"alibi(heads=0)", "alibi(heads=-3)", "alibi()", "alibi(heads=65537)", "alibi(heads=8,bias_max=0)",
        "alibi(heads=8,bias_max=1e300)", "alibi(heads=8,form=rel)", "alibi(heads=8,form=falcon)",
        "alibi(heads=8,head_dim=64)"})
    EXPECT_THROW((void)parse_encoding(text), InputError) << text;
}

}  // namespace
}  // namespace sextant
