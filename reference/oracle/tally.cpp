#include "sextant/reference/oracle/tally.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

namespace sextant {
namespace {

constexpr std::uint64_t kFull = std::numeric_limits<std::uint64_t>::max();

}  // namespace

UlpSum& UlpSum::operator+=(const UlpSum& other) {
  const std::uint64_t low_sum = low + other.low;
  const std::uint64_t carry = low_sum < low ? 1 : 0;
  const bool overflows = other.high > kFull - high || (carry == 1 && high + other.high == kFull);
  return *this = overflows ? UlpSum{kFull, kFull} : UlpSum{high + other.high + carry, low_sum};
}

UlpSum UlpSum::from_ulp(double ulp) {
  const double units = std::nearbyint(ulp * kUnitsPerUlp);
  if (!(units < 0x1p128)) return {kFull, kFull};
  const double high = std::floor(units * 0x1p-64);
  return {static_cast<std::uint64_t>(high), static_cast<std::uint64_t>(units - high * 0x1p64)};
}

double UlpSum::ulp() const {
  if (saturated()) return std::numeric_limits<double>::infinity();
  return (static_cast<double>(high) * 0x1p64 + static_cast<double>(low)) / kUnitsPerUlp;
}

Errors& Errors::operator+=(const Errors& other) {
  values += other.values;
  not_correctly_rounded += other.not_correctly_rounded;
  undecided += other.undecided;
  nan += other.nan;
  sum += other.sum;
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_abs = std::max(max_abs, other.max_abs);
  return *this;
}

double Errors::mean_ulp() const {
  const std::uint64_t measured = values - undecided - nan;
  return measured == 0 ? 0 : sum.ulp() / static_cast<double>(measured);
}

bool TallyWitness::stands_before(const TallyWitness& other) const {
  return std::tie(position, pair, function) < std::tie(other.position, other.pair, other.function);
}

void Tally::offer_worst(const TallyWitness& witness) {
  const bool worse = !worst || witness.ulp > worst->ulp;
  if (worse || (witness.ulp == worst->ulp && witness.stands_before(*worst))) worst = witness;
}

void Tally::offer_nan(const TallyWitness& witness) {
  if (!first_nan || witness.stands_before(*first_nan)) first_nan = witness;
}

Tally& Tally::operator+=(const Tally& other) {
  points += other.points;
  all += other.all;
  for (std::size_t i = 0; i < octaves.size(); ++i) octaves[i] += other.octaves[i];
  if (other.worst) offer_worst(*other.worst);
  if (other.first_nan) offer_nan(*other.first_nan);
  return *this;
}

int octave_of(std::int64_t position) {
  const auto bits = static_cast<std::uint64_t>(position);
  return static_cast<int>(std::bit_width(position < 0 ? -bits : bits));
}

}  // namespace sextant
