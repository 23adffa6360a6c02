// Bounds per element, derived from what a contract promises of each stage.
//
// Notation: u = 2^-24; a, v, t = 2^-p for the formats of arithmetic, output and table; h with an index: half
// the least subnormal of a format (float32: 2^-150); theta = m w exact, c = cos theta, s = sin theta, A the
// attention factor, (x_a, x_b) the input pair, (y_a, y_b) = A R(theta) x exact; a tilde marks what a kernel
// has.
//
// Frequency. exact: w~ = w. f32: |w~ - w| <= e_w, the bound that Rounded<24> derives from the scheme's own
//   definition (reference/rounded.hpp): every rounding of the recipe, the blends of YaRN and Llama 3 and the
//   run-time base of dynamic NTK included, with pow and log within one ulp.
//   f32_running: g = pow(theta, -2/d) in float32 and its running product, bounded by Rounded<24> as it
//   stands, say by relative r_i at pair i; then the ratio q_i = w_i theta^(2i/d), rounded, and its product,
//   neither of them where q_i = 1: e_w = w ((1 + r_i)(1 + u)^2 - 1) + 2h. The recipe may run the product on
//   the angle instead, from m on: the roundings are as many, and belong to rho below, (1 + u)^(i+1) - 1 in
//   place of r. approx: exp2(-x log2 theta), x = 2i/d, log2 and exp2 within eps = 2^-22 of their values,
//   theta, x and the product rounded: with e = x log2 theta the exponent errs by e ((1 + eps)(1 + u)^2 - 1)
//   and x u / ln 2, so r_i = exp(ln 2 of that) (1 + eps) - 1, and q_i as above.
// Angle. exact: theta~ = theta. f32: m~ = m (1 + r_m), r_m = 0 for |m| <= 2^24, |r_m| <= u beyond;
//   theta~ = m~ w~ (1 + r), |r| <= u, + h for a subnormal product, r = 0 where the product needs no rounding:
//   w~ = 1. So |theta~ - theta| <= d = |m| e_w + rho, rho = |m| (w + e_w) ((1 + r_m)(1 + r) - 1) + h.
// Trig. |c~ - cos theta~| <= tau. k ulp: tau = k u, one ulp of a value below 1 being at most u. approx:
//   tau = 2^-21 max(1, (|theta| + d) / pi).
// Table. C~ = fl(A~ c~), A~ = A (1 + a_A), |a_A| <= e_A / A, one rounding more where A is not 1:
//   |C~ - A cos theta~| <= E = A (tau + eta (|cos theta~| + tau)) + h, eta = (1 + e_A/A)(1 + u) - 1, eta = 0
//   and no h for A = 1; |cos theta~| <= min(1, |c| + d). For k < 1 the rounding to float32 is not in tau: u A
//   |cos theta~| and h more. A table of 16 bits, stored or because the arithmetic has no more, adds
//   t (A |cos theta~| + E) + h_t. This is PairBound::cos, and likewise ::sin. Entry: A |cos theta~ - cos
//   theta|
//   <= A (|s| d + |c| d^2/2), and never above 2A; then the output's rounding.
//   given: C~ and S~ are exact but for that rounding, if the table they are given in is wider.
// Rotation. y~_a = fl(fl(x_a C~) - fl(x_b S~)), in the format of the arithmetic. With y^ = A R(theta~) x:
//   |y~_a - y^_a| <= D (1 + a) + a |y^_a|, D = |x_a| C_e + |x_b| S_e + a (|x_a| |C~| + |x_b| |S~|) + 2 h_a;
//   with one product fused the larger of the two is all that is rounded. |y^_a - y_a| <= |y_b| d + |y_a|
//   d^2/2, the rotation of y by less than d, and never above 2 A |x|. So |y~_a - y_a| <= e = (D + turn)(1 +
//   a) + a |y_a|.
// Output. Rounding to a format that does not hold the arithmetic's: e + max(v (|y_a| + e), h_v).
// Flushing. Frequencies, inputs, entries, products, the sum and the output may each lose up to the least
//   normal number l of the formats in use: l more in w~ and in an entry, (2A + 3) l more in D, l more in e.
// Overflow. Where an angle, an entry or A |x| may pass half the largest number of its format, nothing is
//   claimed.
// Sharpness is tested in contract_test.cpp: the worst seen is above a quarter of each bound.
#include "sextant/props/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "sextant/reference/error.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/rounded.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kHalfSubnormal = 0x1p-150;
constexpr double kLeastNormal = 0x1p-126;
constexpr double kApproxPower = 0x1p-22;
constexpr double kApproxTrig = 0x1p-21;
constexpr double kInflate = 1 + 0x1p-40;

/// 1 - cos d <= d^2/2, and no rotation moves a vector by more than twice its length.
double turned(double along, double across, double angle, double length) {
  return std::min(across * angle + along * angle * angle / 2, 2 * length);
}

double half_subnormal(const Format& format) { return format.least_subnormal() / 2; }

/// Whether every value of `inner` is one of `outer`.
bool holds(const Format& outer, const Format& inner) {
  return outer.precision >= inner.precision && outer.largest >= inner.largest &&
         outer.least_subnormal() <= inner.least_subnormal();
}

const Format& format_of(Contract::Arithmetic arithmetic) {
  switch (arithmetic) {
    case Contract::Arithmetic::f64:
      return kFloat64;
    case Contract::Arithmetic::bf16:
      return kBFloat16;
    case Contract::Arithmetic::f16:
      return kFloat16;
    case Contract::Arithmetic::f32:
    case Contract::Arithmetic::fma:
      break;
  }
  return kFloat32;
}

/// The format of 16 bits that entries of a table are rounded to, or nothing.
const Format* table_format(const Contract& contract) {
  if (contract.table == Contract::Table::bf16) return &kBFloat16;
  if (contract.table == Contract::Table::f16) return &kFloat16;
  const Format& arithmetic = format_of(contract.arithmetic);
  return arithmetic.precision < kFloat32.precision ? &arithmetic : nullptr;
}

// ---- text form ----

template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

const Words<Contract::Frequency> kFrequencies = {{"exact", Contract::Frequency::exact},
                                                 {"f32", Contract::Frequency::f32},
                                                 {"f32_running", Contract::Frequency::f32_running},
                                                 {"approx", Contract::Frequency::approx}};
const Words<Contract::Angle> kAngles = {{"exact", Contract::Angle::exact}, {"f32", Contract::Angle::f32}};
const Words<Contract::Table> kTables = {{"none", Contract::Table::none},
                                        {"f32", Contract::Table::f32},
                                        {"bf16", Contract::Table::bf16},
                                        {"f16", Contract::Table::f16},
                                        {"given", Contract::Table::given}};
const Words<Contract::Arithmetic> kArithmetics = {{"f32", Contract::Arithmetic::f32},
                                                  {"fma", Contract::Arithmetic::fma},
                                                  {"f64", Contract::Arithmetic::f64},
                                                  {"bf16", Contract::Arithmetic::bf16},
                                                  {"f16", Contract::Arithmetic::f16}};
const Words<DType> kOutputs = {
    {"f32", DType::f32}, {"f64", DType::f64}, {"bf16", DType::bf16}, {"f16", DType::f16}};
const Words<bool> kDenormals = {{"keep", false}, {"flush", true}};
const Words<bool> kBits = {{"bound", false}, {"exact", true}};

template <class Value>
std::string_view word_of(const Words<Value>& words, Value value) {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return "?";
}

template <class Value>
void read_word(const Words<Value>& words, std::string_view key, std::string_view word, Value& value) {
  std::string known;
  for (const auto& [name, meaning] : words) {
    if (name == word) {
      value = meaning;
      return;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw InputError(fmt::format("contract: {}={} is none of {}", key, word.substr(0, 40), known));
}

std::optional<double> parse_trig(std::string_view word) {
  if (word == "approx") return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(word.data() + word.size() - end));
  if (error != std::errc() || rest != "ulp" || !(value >= 0 && value <= 1e6))
    throw InputError(fmt::format("contract: trig={} is neither approx nor 0 to 1e6 ulp, such as 1ulp",
                                 word.substr(0, 40)));
  return value;
}

void read_key(Contract& contract, std::string_view key, std::string_view word) {
  if (key == "frequency") return read_word(kFrequencies, key, word, contract.frequency);
  if (key == "angle") return read_word(kAngles, key, word, contract.angle);
  if (key == "table") return read_word(kTables, key, word, contract.table);
  if (key == "arithmetic") return read_word(kArithmetics, key, word, contract.arithmetic);
  if (key == "output") return read_word(kOutputs, key, word, contract.output);
  if (key == "denormals") return read_word(kDenormals, key, word, contract.flushes);
  if (key == "bits") return read_word(kBits, key, word, contract.bits_exact);
  if (key != "trig") {
    throw InputError(
        fmt::format("contract: unknown key {}; known are frequency, angle, trig, table, arithmetic, output, "
                    "denormals, bits",
                    key.substr(0, 40)));
  }
  contract.trig_ulp = parse_trig(word);
}

Contract parse_text_form(std::string_view text) {
  constexpr std::string_view kOpening = "contract(";
  if (!text.ends_with(')')) throw InputError("contract(..): the closing parenthesis is missing");
  std::string_view rest = text.substr(kOpening.size(), text.size() - kOpening.size() - 1);
  Contract contract;
  std::set<std::string_view> seen;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw InputError(fmt::format("contract: \"{}\" is no key=value", item.substr(0, 40)));
    if (!seen.insert(item.substr(0, equals)).second)
      throw InputError(fmt::format("contract: the key {} stands twice",
                                   item.substr(0, std::min(equals, std::size_t{40}))));
    read_key(contract, item.substr(0, equals), item.substr(equals + 1));
  }
  contract.name = contract.title();
  return contract;
}

}  // namespace

const Format& format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return kFloat64;
    case DType::f16:
      return kFloat16;
    case DType::bf16:
      return kBFloat16;
    default:
      return kFloat32;
  }
}

std::string Contract::title() const {
  return fmt::format(
      "contract(frequency={},angle={},trig={},table={},arithmetic={},output={},denormals={},bits={})",
      word_of(kFrequencies, frequency), word_of(kAngles, angle),
      trig_ulp ? fmt::format("{}ulp", *trig_ulp) : "approx", word_of(kTables, table),
      word_of(kArithmetics, arithmetic), word_of(kOutputs, output), word_of(kDenormals, flushes),
      word_of(kBits, bits_exact));
}

const std::vector<Contract>& contracts() {
  using C = Contract;
  static const std::vector<Contract> known = [] {
    std::vector<Contract> all;
    const auto add = [&](const char* name, auto... stages) {
      Contract& contract = all.emplace_back();
      contract.name = name;
      [[maybe_unused]] const auto set = [&](auto stage) {
        using Stage = decltype(stage);
        if constexpr (std::is_same_v<Stage, C::Frequency>) contract.frequency = stage;
        if constexpr (std::is_same_v<Stage, C::Angle>) contract.angle = stage;
        if constexpr (std::is_same_v<Stage, C::Table>) contract.table = stage;
        if constexpr (std::is_same_v<Stage, C::Arithmetic>) contract.arithmetic = stage;
        if constexpr (std::is_same_v<Stage, std::nullopt_t>) contract.trig_ulp = stage;
      };
      (set(stages), ...);
    };
    add("exact-angle", C::Frequency::exact, C::Angle::exact);
    add("f32-angle");
    add("f32-running", C::Frequency::f32_running);
    add("f32-approx", C::Frequency::approx, std::nullopt);
    add("f32-table", C::Table::f32);
    add("bf16-table", C::Table::bf16);
    add("f16-table", C::Table::f16);
    add("bf16-arithmetic", C::Table::bf16, C::Arithmetic::bf16);
    add("f16-arithmetic", C::Table::f16, C::Arithmetic::f16);
    add("given-table", C::Table::given);
    return all;
  }();
  return known;
}

Contract parse_contract(std::string_view text) {
  constexpr std::string_view kPlusBits = "+bits";
  if (text.ends_with(kPlusBits)) {
    Contract contract = parse_contract(text.substr(0, text.size() - kPlusBits.size()));
    contract.bits_exact = true;
    return contract;
  }
  if (text.starts_with("contract(")) return parse_text_form(text);
  for (const Contract& contract : contracts()) {
    if (contract.name == text) return contract;
  }
  std::string known;
  for (const Contract& contract : contracts())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", contract.name);
  throw InputError(fmt::format("unknown contract \"{}\": known are {}, or contract(key=value,..)",
                               text.substr(0, 80), known));
}

Contract for_output(Contract contract, DType dtype) {
  if (dtype != DType::f32) contract.output = dtype;
  return contract;
}

/// What the frequencies of an encoding are made of: a multiple, exact or not, of base^(-i numerator /
/// denominator), i the pair's index on its axis.
struct Bounds::FrequencyRecipe {
  std::vector<double> inv_freq;  ///< exact
  std::vector<double> f32;       ///< what the published recipe in float32 errs by
  double base = 1;
  std::int64_t numerator = 2, denominator = 1;
  std::int64_t per_axis = 1;
  bool plain = true;  ///< the multiple is 1

  /// Relative bound of the powers of one axis by a running product in float32.
  [[nodiscard]] std::vector<double> running_errors() const {
    using Real = Rounded<24>;
    const Real step = pow(Real(base), Real(-numerator) / Real(denominator));
    std::vector<double> errors;
    Real power(1);
    for (std::int64_t i = 0; i < per_axis; ++i) {
      errors.push_back(power.error() == 0 ? 0 : power.error() / power.least_magnitude());
      power = power * step;
    }
    return errors;
  }
  /// The same by approximate exp2 and log2.
  [[nodiscard]] std::vector<double> approximate_errors() const {
    std::vector<double> errors;
    for (std::int64_t i = 0; i < per_axis; ++i) {
      const double x = static_cast<double>(numerator * i) / static_cast<double>(denominator);
      const double relative = (1 + kApproxPower) * (1 + kUnit) * (1 + kUnit) - 1;
      const double rounded_base = x * -std::log1p(-kUnit);
      errors.push_back(
          std::exp(x * std::fabs(std::log(base)) * relative + rounded_base) * (1 + kApproxPower) - 1);
    }
    return errors;
  }
  /// |w~ - w| where the power errs by `relative` and the multiple is rounded and multiplied.
  [[nodiscard]] double scaled_error(std::int64_t index, double w, double relative) const {
    if (w == 0) return 0;
    const double ratio = plain || (index == 0 && w == 1) ? 0 : kUnit;
    return w * ((1 + relative) * (1 + ratio) * (1 + ratio) - 1) + (ratio > 0 ? 2 * kHalfSubnormal : 0);
  }
};

Bounds::Bounds(const Contract& contract)
    : contract_(contract),
      output_(&format_of(contract.output)),
      arithmetic_(&format_of(contract.arithmetic)),
      table_(table_format(contract)),
      largest_norm_(std::min({output_->largest, arithmetic_->largest, kFloat32.largest}) / 2) {}

Bounds::Bounds(const Contract& contract, const Rope& rope, std::int64_t seq_len) : Bounds(contract) {
  const ExactFrequencies exact = exact_frequencies(rope, seq_len);
  const Frequencies<Rounded<24>> bounded = sextant::frequencies<Rounded<24>>(rope, seq_len);
  FrequencyRecipe recipe;
  for (const Wide& w : exact.inv_freq) recipe.inv_freq.push_back(w.value());
  for (const Rounded<24>& w : bounded.inv_freq) recipe.f32.push_back(w.error());
  recipe.base = rope.theta;
  recipe.denominator = rope.dim;
  recipe.per_axis = rope.pairs();
  recipe.plain = std::holds_alternative<scaling::None>(rope.scaling);
  set_frequencies(recipe);
  factor_ = exact.attention_factor.value();
  factor_error_ = bounded.attention_factor.error();
  const bool is_one = bounded.attention_factor.is_exactly(1);
  factor_relative_ = is_one ? 0 : (1 + factor_error_ / factor_) * (1 + kUnit) - 1;
}

Bounds::Bounds(const Contract& contract, const Sinusoidal& scheme) : Bounds(contract) {
  FrequencyRecipe recipe;
  for (const Wide& w : exact_frequencies(scheme).inv_freq) recipe.inv_freq.push_back(w.value());
  for (const Rounded<24>& w : sextant::inv_freq<Rounded<24>>(scheme)) recipe.f32.push_back(w.error());
  recipe.base = scheme.base;
  recipe.numerator = ladder_of(scheme).numerator;
  recipe.denominator = ladder_of(scheme).denominator;
  recipe.per_axis = pairs_per_axis(scheme);
  recipe.plain = scheme.layout != Sinusoidal::Layout::H;
  set_frequencies(recipe);
}

void Bounds::set_frequencies(const FrequencyRecipe& recipe) {
  inv_freq_ = recipe.inv_freq;
  std::vector<double> relative;
  if (contract_.frequency == Contract::Frequency::f32_running) relative = recipe.running_errors();
  if (contract_.frequency == Contract::Frequency::approx) relative = recipe.approximate_errors();
  for (std::size_t i = 0; i < inv_freq_.size(); ++i) {
    const std::int64_t index = static_cast<std::int64_t>(i) % recipe.per_axis;
    frequency_.push_back(
        contract_.frequency == Contract::Frequency::exact ? 0
        : contract_.frequency == Contract::Frequency::f32
            ? recipe.f32[i]
            : recipe.scaled_error(index, inv_freq_[i], relative[static_cast<std::size_t>(index)]));
    if (contract_.flushes && contract_.frequency != Contract::Frequency::exact && inv_freq_[i] != 0)
      frequency_[i] += kLeastNormal;
  }
}

PairBound Bounds::pair(std::int64_t pair, std::int64_t position, double cos, double sin) const {
  const auto i = static_cast<std::size_t>(pair);
  const double distance = std::fabs(static_cast<double>(position));
  PairBound bound{};
  const Format& entries = table_ != nullptr ? *table_ : kFloat32;
  const bool angle_overflows = contract_.angle == Contract::Angle::f32 &&
                               distance * (inv_freq_[i] + frequency_[i]) > kFloat32.largest / 2;
  if (!std::isfinite(frequency_[i]) || angle_overflows || factor_ > entries.largest / 2 ||
      contract_.table == Contract::Table::given) {
    // A recipe that overflows: whatever it makes of infinity, where a frequency is infinite at position 0
    // too, nothing is claimed; nor where only the rotation is.
    constexpr double kNothing = std::numeric_limits<double>::infinity();
    return {kNothing, kNothing, kNothing, kNothing};
  }
  if (contract_.angle == Contract::Angle::f32 && position != 0 && inv_freq_[i] != 0) {
    const double position_rounding = distance > 0x1p24 ? kUnit : 0;
    double product_rounding = inv_freq_[i] == 1 && frequency_[i] == 0 ? 0 : kUnit;
    // A running product on the angle rounds anew at every position: as often as there are pairs before.
    if (contract_.frequency == Contract::Frequency::f32_running && product_rounding > 0)
      product_rounding = std::pow(1 + kUnit, static_cast<double>(pair + 1)) - 1;
    bound.angle_round =
        distance * (inv_freq_[i] + frequency_[i]) * ((1 + position_rounding) * (1 + product_rounding) - 1) +
        (product_rounding > 0 ? kHalfSubnormal : 0);
  }
  bound.angle = distance * frequency_[i] + bound.angle_round;
  const double tau =
      contract_.trig_ulp
          ? *contract_.trig_ulp * kUnit
          : kApproxTrig * std::max(1.0, (distance * inv_freq_[i] + bound.angle) / std::numbers::pi);
  const auto entry = [&](double bare) {
    const double size = std::min(1.0, std::fabs(bare) + bound.angle);
    double error =
        factor_ * (tau + factor_relative_ * (size + tau)) + (factor_relative_ > 0 ? kHalfSubnormal : 0);
    if (contract_.trig_ulp && *contract_.trig_ulp < 1)
      error += kUnit * (factor_ * size + error) + kHalfSubnormal;
    if (table_ != nullptr)
      error += table_->unit_roundoff() * (factor_ * size + error) + half_subnormal(*table_);
    return error + flushed();
  };
  bound.cos = entry(cos / factor_);
  bound.sin = entry(sin / factor_);
  return bound;
}

PairBound Bounds::given(double cos, double sin, const Format& table) const {
  const auto entry = [&](double value) {
    const bool rounds = table_ != nullptr && !holds(*table_, table);
    if (rounds && std::fabs(value) > table_->largest / 2) return std::numeric_limits<double>::infinity();
    return (rounds ? table_->unit_roundoff() * std::fabs(value) + half_subnormal(*table_) : 0) + flushed();
  };
  return {0, 0, entry(cos), entry(sin)};
}

double Bounds::frequency_output(std::int64_t pair) const {
  if (contract_.frequency != Contract::Frequency::exact) return frequency(pair) * kInflate;
  const double w = inv_freq_[static_cast<std::size_t>(pair)];
  return w == 0 ? 0 : (kUnit * w + kHalfSubnormal + (contract_.flushes ? kLeastNormal : 0)) * kInflate;
}

double Bounds::flushed() const {
  if (!contract_.flushes) return 0;
  double least = std::max(kLeastNormal, power_of_two(output_->emin));
  if (arithmetic_->precision < kFloat32.precision) least = std::max(least, power_of_two(arithmetic_->emin));
  if (table_ != nullptr) least = std::max(least, power_of_two(table_->emin));
  return least;
}

double Bounds::stored(double error, double value) const {
  if (factor_ > output_->largest / 2) return std::numeric_limits<double>::infinity();
  if (holds(*output_, table_ != nullptr ? *table_ : kFloat32)) return error * kInflate;
  return (error + std::max(output_->unit_roundoff() * (std::fabs(value) + error), half_subnormal(*output_))) *
         kInflate;
}

/// The roundings of the two entries to the output are v |C~| and v |S~|, or half subnormals.
double Bounds::entries_error(const PairBound& at) const {
  const double error = stored(std::hypot(at.cos, at.sin), factor_);
  return output_->precision < kFloat32.precision ? error + half_subnormal(*output_) : error;
}

ElementBound Bounds::table_entry(const PairBound& at, double entry, double value, double partner) const {
  const double turn = turned(std::fabs(value), std::fabs(partner), at.angle, factor_);
  const double absolute = stored(turn + entry, value);
  return {absolute, absolute < kNoClaim * factor_};
}

double Bounds::rotation(const PairBound& at, double x_a, double x_b, double cos, double sin) const {
  const double a = std::fabs(x_a);
  const double b = std::fabs(x_b);
  const auto size = [&](double entry, double error) {
    const double turn =
        at.angle > 0 ? std::min(factor_, std::fabs(entry) + factor_ * at.angle) : std::fabs(entry);
    return turn + error;
  };
  const double with_cos = a * size(cos, at.cos);
  const double with_sin = b * size(sin, at.sin);
  const double products =
      contract_.arithmetic == Contract::Arithmetic::fma ? std::max(with_cos, with_sin) : with_cos + with_sin;
  const double lost = (2 * factor_ + 3) * flushed();
  return (a * at.cos + b * at.sin + arithmetic_->unit_roundoff() * products +
          2 * half_subnormal(*arithmetic_) + lost) *
         kInflate;
}

double Bounds::settled(double error, double value) const {
  const double unit = arithmetic_->unit_roundoff();
  const double summed = error * (1 + unit) + unit * std::fabs(value) + flushed();
  if (holds(*output_, *arithmetic_)) return summed * kInflate;
  return (summed +
          std::max(output_->unit_roundoff() * (std::fabs(value) + summed), half_subnormal(*output_))) *
         kInflate;
}

ElementBound Bounds::rotated(const PairBound& at, double rotation, double value, double partner,
                             double norm) const {
  const double turn = turned(std::fabs(value), std::fabs(partner), at.angle, norm);
  const double absolute = settled(rotation + turn, value);
  return {absolute, std::isfinite(absolute) && (absolute < kNoClaim * norm || norm == 0)};
}

/// The roundings of the two sums are u |y_a| and u |y_b|: u |y| together, and so with the output's; the half
/// subnormals of the latter add up to sqrt(2) of one.
double Bounds::rotation_error(double rotation_a, double rotation_b, double norm) const {
  if (norm > largest_norm_) return std::numeric_limits<double>::infinity();
  const double error = settled(std::hypot(rotation_a, rotation_b), norm);
  return holds(*output_, *arithmetic_) ? error : error + half_subnormal(*output_);
}

// Attention. With g_n = n u / (1 - n u): fl(<q,k>) errs by g_D sum |q_c k_c| (Higham, Accuracy and Stability
// 2nd ed., (3.5)), the product with the rounded scale by (1+u)^2 more, subnormal products by D h:
// logit_bound. Weights: p~_j = e^(l~_j - l~_max (1+r)) (1 + 2u) / sum~; the shift by l~_max cancels but for
// its rounding |r| <= u relative to x = |l~_j - l~_max|, an error u x in the exponent of e^-x. With D the
// worst logit error, x is at most the spread of the exact logits + 2 D, and beyond 104 e^-x underflows
// float32: X = min(spread + 2 D, 104). So every unnormalised weight is right to the factor e^(+-(D + X u)) (1
// + 2u) and 2h; numerator and sum share the bound, the sum adds g_n, the division u, the products and the
// accumulation g_(n+1): |out~ - out| <= sum_j p_j |v_j| relative + absolute_per_value sum_j |v_j| + absolute
// (h for each product p_j v_j that underflows), relative = e^(2 (D + X u)) (1+2u)/(1-2u) (1 + g_n)/(1 - g_n)
// (1+u)(1 + g_(n+1)) - 1.
AttentionBound attention_bound(std::int64_t keys, double worst_logit_error, double spread) {
  const double n = static_cast<double>(keys);
  const auto gamma = [](double k) { return k * kUnit / (1 - k * kUnit); };
  const double shift = std::min(spread + 2 * worst_logit_error, 104.0) * kUnit;
  const double factor = std::exp(2 * (worst_logit_error + shift)) * (1 + 2 * kUnit) / (1 - 2 * kUnit) *
                        (1 + gamma(n)) / (1 - gamma(n)) * (1 + kUnit) * (1 + gamma(n + 1));
  return {(factor - 1) * kInflate, 8 * kHalfSubnormal, n * kHalfSubnormal};
}

double logit_bound(std::int64_t channels, double scale, double sum_of_magnitudes) {
  const double d = static_cast<double>(channels);
  const double gamma = (d + 2) * kUnit / (1 - (d + 2) * kUnit);
  return (gamma * std::fabs(scale) * sum_of_magnitudes + (std::fabs(scale) * d + 1) * 2 * kHalfSubnormal) *
         kInflate;
}

}  // namespace sextant
