#include "sextant/reference/oracle/oracle.hpp"

#include <algorithm>

#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/oracle/state.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {

using namespace oracle;

Oracle::Oracle(const Rope& rope, std::int64_t seq_len, std::int64_t begin, std::int64_t end,
               OracleOptions options) {
  const WorkingDigits scope(kSeedDigits);
  Frequencies<Mpfr> exact = frequencies<Mpfr>(rope, seq_len);
  state_ = State::make(std::move(exact.inv_freq), exact.attention_factor, begin, end, options);
}

Oracle Oracle::from_stored(std::span<const float> inv_freq, double attention_factor, std::int64_t begin,
                           std::int64_t end, OracleOptions options) {
  const WorkingDigits scope(kSeedDigits);
  std::vector<Mpfr> exact(inv_freq.begin(), inv_freq.end());
  return Oracle(State::make(std::move(exact), Mpfr(attention_factor), begin, end, options));
}

Oracle::Oracle(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;

bool Oracle::serves(const std::vector<Wide>& inv_freq) {
  return std::all_of(inv_freq.begin(), inv_freq.end(), [](const Wide& w) { return w.hi < 0x1p32; });
}

std::vector<std::string_view> Oracle::targets() {
  std::vector<std::string_view> names;
  for (const Lanes* lanes : supported_lanes()) names.push_back(lanes->name);
  return names;
}

std::int64_t Oracle::pairs() const { return static_cast<std::int64_t>(state_->pairs()); }
double Oracle::attention_factor() const { return state_->factor_double; }
double Oracle::bound() const { return std::max(state_->rows_bound, state_->phase_bound); }
double Oracle::wide_bound() const { return state_->integers_bound; }

// y = x0 c - x1 s: the errors of c and s cost (|x0| + |x1|) bound <= sqrt(2) |x| bound, the products round by
// 2^-53 (|x0 c| + |x1 s|) <= 2^-53 |x| A, their sum by as much; products of floats do not underflow.
double Oracle::rotation_bound() const {
  return (1.41421356237310 * bound() + 0x1p-52 * state_->factor_double) * (1 + 0x1p-40);
}

void Oracle::row(std::int64_t position, double* cos, double* sin) const {
  check_range(position, 1);
  for (std::size_t pair = 0; pair < state_->pairs(); ++pair) {
    const CosSin value = state_->phase_pair(position, pair);
    cos[pair] = value.cos;
    sin[pair] = value.sin;
  }
}

Oracle::WidePair Oracle::wide(std::int64_t position, std::int64_t pair) const {
  check_range(position, 1);
  const auto index = static_cast<std::size_t>(pair);
  return {state_->wide({position, index, Function::cos}), state_->wide({position, index, Function::sin})};
}

void Oracle::rotate(std::int64_t position, int direction, const float* a, const float* b, double* a_out,
                    double* b_out) const {
  check_range(position, 1);
  for (std::size_t pair = 0; pair < state_->pairs(); ++pair) {
    const CosSin value = state_->phase_pair(direction < 0 ? -position : position, pair);
    const double x = a[pair], y = b[pair];
    a_out[pair] = x * value.cos - y * value.sin;
    b_out[pair] = y * value.cos + x * value.sin;
  }
}

ExactPair OracleAccess::exact(const Oracle& oracle, std::int64_t position, std::int64_t pair, unsigned bits) {
  const auto index = static_cast<std::size_t>(pair);
  return {oracle.state_->exact({position, index, Function::cos}, bits),
          oracle.state_->exact({position, index, Function::sin}, bits)};
}

Oracle OracleAccess::make(std::vector<Mpfr> inv_freq, const Mpfr& attention_factor, std::int64_t begin,
                          std::int64_t end, OracleOptions options) {
  return Oracle(Oracle::State::make(std::move(inv_freq), attention_factor, begin, end, options));
}

}  // namespace sextant
