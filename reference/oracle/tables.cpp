#include "sextant/reference/oracle/tables.hpp"

#include <algorithm>

namespace sextant::oracle {
namespace {

constexpr double kIdle = 0.75;

std::size_t blocks_of(std::size_t pairs) { return (pairs + Tables::kMaxWidth - 1) / Tables::kMaxWidth; }
std::size_t width_of(std::size_t pairs) {
  const std::size_t blocks = blocks_of(pairs);
  return ((pairs + blocks - 1) / blocks + 7) / 8 * 8;
}

}  // namespace

Tables::Tables(std::vector<Phasor> units, std::vector<bool> still, const Fixed& factor, double scale,
               std::uint64_t limit)
    : units_(std::move(units)),
      still_(std::move(still)),
      factor_(factor),
      scale_(scale),
      limit_(limit),
      blocks_(blocks_of(units_.size())),
      width_(width_of(units_.size())),
      idle_(blocks_, true),
      full_(blocks_, true),
      fine_(make_table(limit == 0 ? 0 : kFineRows)),
      mid_(make_table(limit == 0 ? 0 : kMidRows)) {
  for (std::size_t pair = 0; pair < blocks_ * width_; ++pair)
    (this->still(pair) ? full_ : idle_)[pair / width_] = false;
  if (limit == 0) return;

  const auto next_units = [&](const Powers& table, std::uint64_t rows) {
    const std::size_t n = units_.size();
    std::vector<Phasor> next(n);
    for (std::size_t pair = 0; pair < n; ++pair) next[pair] = table[(rows - 1) * n + pair] * table[n + pair];
    return next;
  };
  fine_powers_ = powers(units_, kFineRows);
  mid_powers_ = powers(next_units(fine_powers_, kFineRows), kMidRows);
  lay(fine_powers_, 1, fine_);
  lay(mid_powers_, kIdle, mid_);
  std::vector<Phasor> digit_units = next_units(mid_powers_, kMidRows);
  for (std::uint64_t left = (limit - 1) / kSection; left != 0; left >>= kDigitBits) {
    constexpr std::uint64_t kRows = std::uint64_t{1} << kDigitBits;
    digits_.push_back(powers(digit_units, std::min(left + 1, kRows)));
    if (left >= kRows) digit_units = next_units(digits_.back(), kRows);
  }
}

Tables::Powers Tables::powers(std::span<const Phasor> units, std::uint64_t rows) const {
  Powers table(rows * units.size(), kOne);
  for (std::size_t i = units.size(); i < table.size(); ++i)
    table[i] = table[i - units.size()] * units[i % units.size()];
  return table;
}

Phasor Tables::high_power(std::size_t pair, std::uint64_t section) const {
  Phasor value = kOne;
  for (std::size_t digit = 0; section != 0; ++digit, section >>= kDigitBits)
    if (const std::uint64_t row = section & ((1u << kDigitBits) - 1); row != 0) {
      const Phasor& entry = digits_[digit][row * units_.size() + pair];
      value = value.sin == Fixed{} && value.cos == kOne.cos ? entry : value * entry;
    }
  return value;
}

Phasor Tables::power(std::size_t pair, std::uint64_t position) const {
  const auto bare = [&] {
    if (position >= limit_) return oracle::power(units_[pair], position);
    const Phasor& fine = fine_powers_[position % kFineRows * units_.size() + pair];
    const Phasor& mid = mid_powers_[position / kFineRows % kMidRows * units_.size() + pair];
    return high_power(pair, position / kSection) * (mid * fine);
  }();
  return factor_ == kOne.cos ? bare : Phasor{factor_ * bare.cos, factor_ * bare.sin};
}

Tables::Table Tables::make_table(std::uint64_t rows) const {
  const std::size_t count = blocks_ * rows * row_step();
  return {AlignedDoubles(count), AlignedDoubles(count), rows};
}

void Tables::put(const Phasor& value, double scale, double* high, double* low) const {
  const Wide cos = to_wide(value.cos), sin = to_wide(value.sin);
  high[0] = cos.hi * scale;
  high[width_] = sin.hi * scale;
  low[0] = cos.lo * scale;
  low[width_] = sin.lo * scale;
}

void Tables::lay(const Powers& powers, double idle, Table& table) const {
  for (std::size_t block = 0; block < blocks_; ++block)
    for (std::size_t row = 0; row < table.rows; ++row)
      for (std::size_t lane = 0; lane < width_; ++lane) {
        const std::size_t pair = block * width_ + lane;
        const std::size_t offset = (block * table.rows + row) * row_step() + lane;
        double* const high = table.high.data() + offset;
        double* const low = table.low.data() + offset;
        if (!still(pair)) {
          put(powers[row * units_.size() + pair], 1, high, low);
          continue;
        }
        // fine = 1, mid = 0.75 (1 + i), section = 1: the product is 0.75 in both functions.
        high[0] = idle;
        high[width_] = idle == 1 ? 0 : idle;
        low[0] = low[width_] = 0;
      }
}

void Tables::section(std::uint64_t i, double* out) const {
  for (std::size_t pair = 0; pair < blocks_ * width_; ++pair) {
    double* const high = out + pair / width_ * 4 * width_ + pair % width_;
    double* const low = high + 2 * width_;
    if (still(pair)) {
      put(kOne, 1, high, low);
      continue;
    }
    const Phasor bare = high_power(pair, i);
    put(factor_ == kOne.cos ? bare : Phasor{factor_ * bare.cos, factor_ * bare.sin}, scale_, high, low);
  }
}

}  // namespace sextant::oracle
