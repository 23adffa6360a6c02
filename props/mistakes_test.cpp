// A RoPE kernel as an outside author writes it, right and in five common ways wrong: the right one passes,
// each mistake fails the laws that name it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "sextant/fixtures/element.hpp"
#include "sextant/fixtures/layout.hpp"
#include "sextant/props/suite.hpp"

namespace sextant {
namespace {

enum class Mistake { none, pairing_swapped, position_plus_one, factor_twice, width_of_head, bf16_table };

/// The share of its own frequency that a pair keeps; the rest is divided by the factor.
double kept(const scaling::Yarn& yarn, double theta, double width, double pair) {
  const auto original = static_cast<double>(yarn.original);
  const auto pair_of = [&](double turns) {
    return width * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double first = pair_of(yarn.beta_fast), last = pair_of(yarn.beta_slow);
  if (yarn.truncate) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0), last = std::min(last, width - 1);
  if (first == last) last += 0.001;
  return 1 - std::clamp((pair - first) / (last - first), 0.0, 1.0);
}
double kept(const scaling::Llama3& llama, double inv_freq) {
  const double turns = static_cast<double>(llama.original) * inv_freq / (2 * std::numbers::pi);
  return std::clamp((turns - llama.low) / (llama.high - llama.low), 0.0, 1.0);
}

double yarn_factor(const scaling::Yarn& yarn) {
  return yarn.factor ? *yarn.factor
                     : static_cast<double>(yarn.max_position.value()) / static_cast<double>(yarn.original);
}

float attention_factor(const Rope& rope) {
  const auto* yarn = std::get_if<scaling::Yarn>(&rope.scaling);
  if (!yarn) return 1;
  const double factor = yarn_factor(*yarn);
  const auto gain = [&](double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; };
  const double mscale = yarn->mscale.value_or(0), all_dim = yarn->mscale_all_dim.value_or(0);
  if (yarn->attention_factor) return static_cast<float>(*yarn->attention_factor);
  return static_cast<float>(mscale != 0 && all_dim != 0 ? gain(mscale) / gain(all_dim) : gain(1));
}

std::vector<float> inv_freq(const Rope& rope, std::int64_t channels) {
  const auto width = static_cast<double>(channels);
  std::vector<float> result;
  for (std::int64_t i = 0; i < channels / 2; ++i) {
    const auto pair = static_cast<double>(i);
    const double own = std::pow(rope.theta, -2 * pair / width);
    double share = 1, factor = 1;
    if (const auto* yarn = std::get_if<scaling::Yarn>(&rope.scaling))
      share = kept(*yarn, rope.theta, width, pair), factor = yarn_factor(*yarn);
    if (const auto* llama = std::get_if<scaling::Llama3>(&rope.scaling))
      share = kept(*llama, own), factor = llama->factor;
    result.push_back(static_cast<float>(share * own + (1 - share) * own / factor));
  }
  return result;
}

/// The operations of the kernel; a mistake is made in one place, for every operation that comes by it.
struct Author {
  Mistake mistake;

  [[nodiscard]] std::int64_t width(const Rope& rope) const {
    return mistake == Mistake::width_of_head ? rope.head_dim : rope.dim;
  }

  /// cos and sin of one position times the attention factor.
  struct Row {
    std::vector<float> cos, sin;
  };
  [[nodiscard]] Row row(const Rope& rope, const std::vector<float>& frequencies,
                        std::int64_t position) const {
    if (mistake == Mistake::position_plus_one) ++position;
    const float factor = attention_factor(rope);
    const DType kept_in = mistake == Mistake::bf16_table ? DType::bf16 : DType::f32;
    Row row;
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      row.cos.push_back(rounded_to(kept_in, factor * std::cos(angle)));
      row.sin.push_back(rounded_to(kept_in, factor * std::sin(angle)));
    }
    return row;
  }

  void turn_head(const Rope& rope, const Row& row, float sign, const float* x, float* y) const {
    const bool neighbours = (rope.pairing == Pairing::interleaved) != (mistake == Mistake::pairing_swapped);
    const float gain = mistake == Mistake::factor_twice ? attention_factor(rope) : 1;
    const auto half = static_cast<std::size_t>(width(rope) / 2);
    std::vector<float> out(x, x + rope.head_dim);
    for (std::size_t i = 0; i < std::min(half, row.cos.size()); ++i) {
      const std::size_t a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + half;
      const float c = gain * row.cos[i], s = gain * sign * row.sin[i];
      out[a] = x[a] * c - x[b] * s;
      out[b] = x[b] * c + x[a] * s;
    }
    std::copy(out.begin(), out.end(), y);
  }

  /// row_of(b, s) is the row of a token.
  void turn(const RotateCall& call, float sign,
            const std::function<Row(std::int64_t b, std::int64_t s)>& row_of) const {
    const auto& rope = std::get<Rope>(call.encoding);
    for (const auto& [in, out] : {std::pair{call.q, call.q_out}, {call.k, call.k_out}}) {
      if (!in) continue;
      const HeadView x = head_view(in, call.layout), y = head_view(out, call.layout);
      for (std::int64_t b = 0; b < x.batch; ++b)
        for (std::int64_t s = 0; s < x.tokens; ++s) {
          const Row row = row_of(b, s);
          for (std::int64_t h = 0; h < x.heads; ++h)
            turn_head(rope, row, sign * static_cast<float>(rope.direction),
                      in.as<const float>() + x.offset(b, s, h), out.as<float>() + y.offset(b, s, h));
        }
    }
  }

  void rotate(const RotateCall& call, float sign) const {
    const auto& rope = std::get<Rope>(call.encoding);
    const std::vector<float> frequencies = inv_freq(rope, width(rope));
    turn(call, sign, [&](std::int64_t b, std::int64_t s) {
      return row(rope, frequencies, position_at(call.positions, b, s));
    });
  }

  void rotate_with_tables(const RotateWithTablesCall& call) const {
    const auto& rope = std::get<Rope>(call.rotate.encoding);
    if (call.cos.dim(1) != rope.pairs()) throw Refused("tables of another width");
    turn(call.rotate, 1, [&](std::int64_t b, std::int64_t s) {
      const std::int64_t at = call.rotate.positions ? position_at(call.rotate.positions, b, s) : s;
      if (at < 0 || at >= call.cos.dim(0)) throw Refused("a position without a row");
      Row row;
      for (std::int64_t i = 0; i < call.cos.dim(1); ++i) {
        row.cos.push_back(call.cos.as<const float>()[call.cos.offset(at, i)]);
        row.sin.push_back(call.sin.as<const float>()[call.sin.offset(at, i)]);
      }
      return row;
    });
  }

  void frequencies(const FrequenciesCall& call) const {
    const auto& rope = std::get<Rope>(call.encoding);
    const std::vector<float> made = inv_freq(rope, width(rope));
    std::copy_n(made.begin(), rope.pairs(), call.inv_freq.as<float>());
    *call.attention_factor.as<float>() = attention_factor(rope);
  }

  void tables(const TablesCall& call) const {
    const auto& rope = std::get<Rope>(call.encoding);
    const std::vector<float> frequencies = inv_freq(rope, width(rope));
    for (std::int64_t s = 0; s < call.cos.dim(0); ++s) {
      const Row made = row(rope, frequencies, position_at(call.positions, 0, s));
      for (std::int64_t i = 0; i < call.cos.dim(1); ++i) {
        call.cos.as<float>()[call.cos.offset(s, i)] = made.cos[static_cast<std::size_t>(i)];
        call.sin.as<float>()[call.sin.offset(s, i)] = made.sin[static_cast<std::size_t>(i)];
      }
    }
  }
};

Kernel my_kernel(Mistake mistake = Mistake::none) {
  const Author author{mistake};
  Kernel kernel;
  kernel.name = "mine";
  kernel.title = "a kernel by somebody else";
  kernel.capabilities.pairings = {Pairing::half, Pairing::interleaved};
  kernel.capabilities.in_place = Capabilities::InPlace::also;
  kernel.capabilities.declines = [](const Encoding& encoding) -> std::optional<std::string> {
    const std::string_view scaling = scaling_name(std::get<Rope>(encoding).scaling);
    if (scaling == "default" || scaling == "yarn" || scaling == "llama3") return std::nullopt;
    return "knows only yarn and llama3";
  };
  kernel.frequencies = [=](const FrequenciesCall& call) { author.frequencies(call); };
  kernel.tables = [=](const TablesCall& call) { author.tables(call); };
  kernel.rotate = [=](const RotateCall& call) { author.rotate(call, 1); };
  kernel.rotate_backward = [=](const RotateCall& call) { author.rotate(call, -1); };
  kernel.rotate_with_tables = [=](const RotateWithTablesCall& call) { author.rotate_with_tables(call); };
  return kernel;
}

constexpr const char* kPlain = "rope(dim=32,theta=10000)";
constexpr const char* kPartial = "rope(head_dim=48,dim=16,theta=500000)";
constexpr const char* kInterleaved = "rope(head_dim=64,dim=32,theta=500000,pairing=interleaved)";
constexpr const char* kYarn =
    "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))";
constexpr const char* kLlama3 =
    "rope(dim=64,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))";

const std::vector<const char*> kAll = {kPlain, kPartial, kInterleaved, kYarn, kLlama3};

using Names = std::set<std::string>;

/// Laws by what the suite says of them over all operations and encodings.
struct Findings {
  Names failed;  ///< a record fails
  Names passed;  ///< a record passes and none fails
  Names silent;  ///< every record is unsupported
};
Findings findings(Mistake mistake, const std::vector<const char*>& encodings,
                  const std::string& contract = "f32-angle") {
  SuiteOptions options;
  options.contract = parse_contract(contract);
  options.kernels = {my_kernel(mistake)};
  options.laws = laws();
  options.drift = false;
  for (const char* text : encodings) options.subjects.push_back({std::nullopt, parse_encoding(text), 4096});
  Findings found;
  for (const VerdictRecord& record : run_suite(options).verdicts) {
    EXPECT_TRUE(record.verdict == Verdict::fail || record.verdict == Verdict::pass ||
                record.verdict == Verdict::unsupported)
        << record.law << ": " << to_string(record.verdict) << ": " << record.reason;
    Names& names = record.verdict == Verdict::fail   ? found.failed
                   : record.verdict == Verdict::pass ? found.passed
                                                     : found.silent;
    names.insert(record.law);
  }
  for (const std::string& law : found.failed) found.passed.erase(law), found.silent.erase(law);
  for (const std::string& law : found.passed) found.silent.erase(law);
  return found;
}

struct Expected {
  Names failed{};     ///< exactly these fail
  Names blind{};      ///< these pass
  Names by_chance{};  ///< these fail where a draw happens to show the mistake
};
void expect(const Expected& expected, Mistake mistake, const std::vector<const char*>& encodings) {
  Findings found = findings(mistake, encodings);
  for (const std::string& law : expected.by_chance) found.failed.erase(law);
  EXPECT_EQ(found.failed, expected.failed);
  for (const std::string& law : expected.blind) EXPECT_TRUE(found.passed.contains(law)) << law;
}

TEST(mistakes, the_right_kernel_passes_every_law_that_speaks_of_what_it_offers) {
  const Findings found = findings(Mistake::none, kAll);
  EXPECT_EQ(found.failed, Names{});
  EXPECT_EQ(found.silent,
            (Names{"permutation_equivariance", "causal_mask_breaks_symmetry", "packed_equals_separate",
                   "rope_decode_equals_prefill", "rope_values_untouched", "pi_scaling",
                   "ntk_frequency_ratios", "dynamic_ntk", "longrope_switch", "proportional"}));
}

// rope_elementwise names the pairing, rope_convention_equivalence a partner that differs. Whatever looks at a
// pair by itself sees halves of two others, and rope_relative_offset compares with the exact score. Two whole
// heads turned alike keep their product, so yarn_temperature is blind.
TEST(mistakes, pairings_swapped) {
  const Expected expected = {
      .failed = {"rope_elementwise", "rope_convention_equivalence", "rope_relative_offset", "rope_isometry",
                 "rope_group", "rope_backward_adjoint", "rope_table_forms", "special_values"},
      .blind = {"yarn_temperature", "rope_partial_passthrough", "rope_head_independence",
                "rope_explicit_positions", "strided_views", "base_rescale"}};
  expect(expected, Mistake::pairing_swapped, {kPlain});
  expect(expected, Mistake::pairing_swapped, {kInterleaved, kYarn, kLlama3});
}

// rope_group names a position one off: position 0 is not the identity. rope_relative_offset is blind to a
// shift that q and k share, but for one across 2^24, where float32 integers end; rope_isometry to every
// rotation, rope_backward_adjoint to what forward and backward share, special_values while signs agree.
TEST(mistakes, position_off_by_one) {
  expect({.failed = {"rope_elementwise", "rope_group"},
          .blind = {"rope_isometry", "rope_backward_adjoint", "rope_convention_equivalence",
                    "rope_explicit_positions", "rope_partial_passthrough", "yarn_temperature"},
          .by_chance = {"rope_relative_offset", "special_values"}},
         Mistake::position_plus_one, kAll);
}

// yarn_temperature names it, and alone sees it on encodings whose own factor is 1, by adding a scaling. With
// a factor, whatever knows A misses it. rope_convention_equivalence and rope_backward_adjoint have it on both
// sides.
TEST(mistakes, attention_factor_applied_twice) {
  const Names blind = {"rope_convention_equivalence", "rope_backward_adjoint", "rope_partial_passthrough",
                       "special_values"};
  expect({.failed = {"yarn_temperature"}, .blind = blind}, Mistake::factor_twice,
         {kPlain, kPartial, kInterleaved});
  expect({.blind = blind}, Mistake::factor_twice, {kLlama3});
  expect({.failed = {"yarn_temperature", "rope_elementwise", "rope_isometry", "rope_group",
                     "rope_relative_offset", "rope_table_forms"},
          .blind = blind},
         Mistake::factor_twice, {kYarn});
}

// rope_partial_passthrough names it, and alone sees it on encodings that rotate the whole head, by widening
// the head. On a partial width every frequency is another; interleaved pairs keep their partners, so that
// what is blind to angles and what gets its tables from elsewhere pass there.
TEST(mistakes, width_taken_from_the_head) {
  expect({.failed = {"rope_partial_passthrough"}, .blind = {"rope_elementwise", "yarn_ramp", "llama3_bands"}},
         Mistake::width_of_head, {kPlain, kYarn, kLlama3});
  const Names angles = {"rope_partial_passthrough",
                        "rope_elementwise",
                        "rope_convention_equivalence",
                        "rope_group",
                        "base_rescale",
                        "yarn_ramp",
                        "llama3_bands",
                        "special_values"};
  const Names partners = {"rope_isometry", "rope_relative_offset", "rope_backward_adjoint",
                          "rope_table_forms", "yarn_temperature"};
  expect({.failed = angles,
          .blind = {"rope_isometry", "rope_backward_adjoint", "rope_table_forms", "yarn_temperature"},
          .by_chance = {"rope_relative_offset"}},
         Mistake::width_of_head, {kInterleaved});
  Names both = angles;
  both.insert(partners.begin(), partners.end());
  expect({.failed = both, .blind = {"rope_head_independence", "rope_explicit_positions", "memory_bounds"}},
         Mistake::width_of_head, {kPartial});
}

// rope_isometry names tables in 16 bits; entries rounded one by one turn by no angle, so that whatever judges
// products or norms sees them too. rope_backward_adjoint turns back by the same entries, and laws of
// frequencies and of given tables never meet them. A kernel that claims no more than it does passes.
TEST(mistakes, table_in_bf16_under_a_contract_of_float32) {
  const Names blind = {"rope_backward_adjoint", "rope_convention_equivalence", "rope_table_forms",
                       "rope_explicit_positions", "special_values"};
  Names failed = {"rope_elementwise", "rope_isometry", "rope_group", "rope_relative_offset"};
  expect({.failed = failed, .blind = blind}, Mistake::bf16_table, {kLlama3});
  failed.insert("yarn_temperature");
  expect({.failed = failed, .blind = blind}, Mistake::bf16_table, {kPlain, kPartial, kInterleaved, kYarn});
  EXPECT_EQ(findings(Mistake::bf16_table, kAll, "bf16-table").failed, Names{});
}

}  // namespace
}  // namespace sextant
