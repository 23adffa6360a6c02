// The printed tables against values computed with mpmath, apart from this project
// (fixtures/golden/golden.json).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/reference/number.hpp"
#include "sextant/reference/table.hpp"

namespace sextant {
namespace {

using nlohmann::json;

/// The golden configs hold nothing but HuggingFace's canonical keys, so that this reads them without the
/// config reader.
Rope rope_of(const json& config) {
  const json& p = config.at("rope_parameters");
  Rope rope;
  rope.head_dim = config.at("head_dim");
  rope.dim =
      static_cast<std::int64_t>(static_cast<double>(rope.head_dim) * p.value("partial_rotary_factor", 1.0));
  rope.theta = p.at("rope_theta");
  const std::string type = p.at("rope_type");
  const auto number = [&](const char* key) {
    return p.contains(key) ? std::optional<double>(p.at(key).get<double>()) : std::nullopt;
  };
  if (type == "linear") rope.scaling = scaling::Linear{p.at("factor")};
  if (type == "ntk") rope.scaling = scaling::Ntk{p.at("factor")};
  if (type == "dynamic")
    rope.scaling = scaling::Dynamic{p.at("factor"), config.at("max_position_embeddings")};
  if (type == "yarn") {
    rope.scaling = scaling::Yarn{number("factor"),
                                 p.at("original_max_position_embeddings"),
                                 std::nullopt,
                                 p.value("beta_fast", 32.0),
                                 p.value("beta_slow", 1.0),
                                 p.value("truncate", true),
                                 number("mscale"),
                                 number("mscale_all_dim"),
                                 number("attention_factor")};
  }
  if (type == "llama3") {
    rope.scaling = scaling::Llama3{p.at("factor"), p.at("low_freq_factor"), p.at("high_freq_factor"),
                                   p.at("original_max_position_embeddings")};
  }
  if (type == "longrope") {
    rope.scaling = scaling::LongRope{p.at("original_max_position_embeddings"),
                                     number("factor"),
                                     std::nullopt,
                                     p.at("short_factor"),
                                     p.at("long_factor"),
                                     number("attention_factor")};
  }
  if (type == "proportional") {
    rope.dim = rope.head_dim;
    rope.scaling = scaling::Proportional{p.value("partial_rotary_factor", 1.0), p.value("factor", 1.0)};
  }
  return rope;
}

/// Both texts are correctly rounded to 40 digits, so that they are equal as numbers; golden's own working
/// precision may have cost its last digit, hence one unit there.
void expect_same(const std::string& got, const std::string& want, const std::string& where) {
  const WorkingDigits scope(60);
  const Mpfr a(got);
  const Mpfr b(want);
  if (b == 0) {
    EXPECT_EQ(got, "0") << where;
    return;
  }
  EXPECT_LE(Mpfr(abs(a - b) / abs(b)).convert_to<double>(), 1e-38) << where << ": " << got << " != " << want;
}

TEST(golden, every_rope_case_agrees_to_38_digits) {
  const json golden = json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/fixtures/golden/golden.json"));
  std::size_t values = 0;
  for (const json& entry : golden.at("rope")) {
    const json& config = entry.at("config");
    const std::vector<std::int64_t> positions = entry.at("positions");
    const std::int64_t longest = *std::max_element(positions.begin(), positions.end()) + 1;
    const PrintedTable table = print_table(
        {rope_of(config), config.value("seq_len", longest), positions, 40, nullptr}, [](std::size_t) {});
    ASSERT_EQ(table.inv_freq.size(), entry.at("inv_freq").size()) << config;
    for (std::size_t i = 0; i < table.inv_freq.size(); ++i) {
      expect_same(table.inv_freq[i], entry.at("inv_freq")[i], config.dump());
      ++values;
    }
    expect_same(table.attention_factor, entry.at("attention_factor"), config.dump());
    const std::vector<std::size_t> pairs = entry.at("pairs");
    for (std::size_t row = 0; row < positions.size(); ++row) {
      for (std::size_t column = 0; column < pairs.size(); ++column) {
        expect_same(table.cos[row][pairs[column]], entry.at("cos")[row][column], config.dump());
        expect_same(table.sin[row][pairs[column]], entry.at("sin")[row][column], config.dump());
        values += 2;
      }
    }
  }
  EXPECT_EQ(golden.at("rope").size(), 48u);
  EXPECT_GT(values, 2000u);
  std::printf("golden: %zu values of %zu cases agree to 38 digits\n", values, golden.at("rope").size());
}

TEST(golden, every_sinusoidal_row_agrees_to_38_digits) {
  const json golden = json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/fixtures/golden/golden.json"));
  std::size_t values = 0;
  for (const json& entry : golden.at("sinusoidal")) {
    Sinusoidal scheme;
    scheme.dim = entry.at("dim");
    scheme.base = entry.at("base");
    const PrintedRows printed = print_rows({scheme, {entry.at("position")}, 40, nullptr}, [](std::size_t) {});
    const json& want = entry.at("row");
    ASSERT_EQ(printed.rows.front().size(), want.size());
    for (std::size_t j = 0; j < want.size(); ++j, ++values)
      expect_same(printed.rows.front()[j], want[j],
                  fmt::format("{}, column {}", entry.at("position").dump(), j));
  }
  EXPECT_GT(values, 1000u);
  std::printf("golden: %zu values of %zu sinusoidal rows agree to 38 digits\n", values,
              golden.at("sinusoidal").size());
}

}  // namespace
}  // namespace sextant
