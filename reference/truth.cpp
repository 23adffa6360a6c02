// Exact rows by the oracle's integer rung (reference/oracle, error 2^-107 p with p < 2A the power of two
// above A), and by MPFR at 67 decimal digits (225 bits) for frequencies beyond the oracle's
// 2^32 rad per position, with as many more as the largest of them has beyond 2^64.
//
// MPFR: w has relative error < 2^-216 (a dozen operations), so the angle of a position below 2^40 and w <
// 2^64 (above it, the digits added are those before the point) is within 2^-112 rad; sin_cos adds 2^-224; the split into two doubles leaves at most 2^-106 of a value
// of magnitude <= A, with the product by A (relative 2^-216) below kRowError * A = 2^-104 A in all.
#include "sextant/reference/truth.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {
namespace {

constexpr unsigned kDigits = 67;

/// Digits with which the largest of these frequencies times a position has as many behind the point as 2^64
/// has with kDigits.
unsigned digits_for(const std::vector<Wide>& inv_freq) {
  double largest = 1;
  for (const Wide& w : inv_freq) largest = std::max(largest, w.hi);
  return kDigits + static_cast<unsigned>(std::max(0.0, std::ceil(std::log10(largest)) - 19));
}

Wide to_wide(const Mpfr& value) {
  const double high = mpfr_get_d(value.backend().data(), MPFR_RNDN);
  const Mpfr rest = value - high;
  return {high, mpfr_get_d(rest.backend().data(), MPFR_RNDN)};
}

}  // namespace

struct ExactRows::State {
  Frequencies<Mpfr> mpfr;
  ExactFrequencies wide;
  unsigned digits = kDigits;
  std::optional<Oracle> oracle;
  std::unordered_map<std::int64_t, ExactRow> rows;
  std::optional<Sinusoidal> sinusoid;

  [[nodiscard]] std::int64_t coordinate(std::size_t pair, std::int64_t position) const {
    if (!sinusoid) return position;
    return coordinate_of(*sinusoid, axis_of(*sinusoid, static_cast<std::int64_t>(pair)), position);
  }
};

namespace {

ExactFrequencies to_wide(const Frequencies<Mpfr>& exact) {
  ExactFrequencies result;
  for (const Mpfr& w : exact.inv_freq) result.inv_freq.push_back(to_wide(w));
  result.attention_factor = to_wide(exact.attention_factor);
  return result;
}

}  // namespace

ExactFrequencies exact_frequencies(const Rope& rope, std::int64_t seq_len) {
  const WorkingDigits scope(kDigits);
  return to_wide(sextant::frequencies<Mpfr>(rope, seq_len));
}

ExactFrequencies exact_frequencies(const Sinusoidal& scheme) {
  const WorkingDigits scope(kDigits);
  return to_wide(Frequencies<Mpfr>{inv_freq<Mpfr>(scheme), Mpfr(1)});
}

ExactRows::ExactRows(const Rope& rope, std::int64_t seq_len) : state_(std::make_unique<State>()) {
  state_->wide = exact_frequencies(rope, seq_len);
  state_->digits = digits_for(state_->wide.inv_freq);
  const WorkingDigits scope(state_->digits);
  state_->mpfr = sextant::frequencies<Mpfr>(rope, seq_len);
  if (Oracle::serves(state_->wide.inv_freq)) state_->oracle.emplace(rope, seq_len, 0, 0);
}
ExactRows::ExactRows(const Sinusoidal& scheme) : state_(std::make_unique<State>()) {
  state_->wide = exact_frequencies(scheme);
  state_->digits = digits_for(state_->wide.inv_freq);
  const WorkingDigits scope(std::max(state_->digits, oracle::kSeedDigits));
  state_->mpfr = {inv_freq<Mpfr>(scheme), Mpfr(1)};
  state_->sinusoid = scheme;
  if (Oracle::serves(state_->wide.inv_freq))
    state_->oracle = OracleAccess::make(state_->mpfr.inv_freq, Mpfr(1), 0, 0);
}
ExactRows::~ExactRows() = default;
ExactRows::ExactRows(ExactRows&&) noexcept = default;
ExactRows& ExactRows::operator=(ExactRows&&) noexcept = default;

const ExactFrequencies& ExactRows::frequencies() const { return state_->wide; }

const ExactRow& ExactRows::at(std::int64_t position) {
  const auto found = state_->rows.find(position);
  return found != state_->rows.end() ? found->second
                                     : state_->rows.emplace(position, take(position)).first->second;
}

ExactRow ExactRows::take(std::int64_t position) const {
  ExactRow row;
  const std::size_t pairs = state_->wide.inv_freq.size();
  row.cos.reserve(pairs);
  row.sin.reserve(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    const Entry at = entry(state_->coordinate(i, position), i);
    row.cos.push_back(at.cos);
    row.sin.push_back(at.sin);
  }
  return row;
}

ExactRows::Entry ExactRows::entry(std::int64_t coordinate, std::size_t pair) const {
  if (state_->oracle) {
    const Oracle::WidePair at = state_->oracle->wide(coordinate, static_cast<std::int64_t>(pair));
    return {at.cos, at.sin};
  }
  const WorkingDigits scope(state_->digits);
  const Mpfr angle = state_->mpfr.inv_freq[pair] * coordinate;
  Mpfr c, s;
  mpfr_sin_cos(s.backend().data(), c.backend().data(), angle.backend().data(), MPFR_RNDN);
  const Mpfr& factor = state_->mpfr.attention_factor;
  return {to_wide(Mpfr(c * factor)), to_wide(Mpfr(s * factor))};
}

}  // namespace sextant
