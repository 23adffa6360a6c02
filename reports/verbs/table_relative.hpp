// What `sextant table` prints of encodings by distance: ALiBi's slopes, T5's and DeBERTa's buckets.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/encoding.hpp"

namespace sextant {

/// What was asked for, checked.
struct RelativeTable {
  std::vector<std::int64_t> positions;
  unsigned digits;
  const Format* format;  ///< where values of a dtype are wanted and not decimals
};

/// Text, or a JSON document. Positions are distances: T5's are key - query, DeBERTa's query - key; slopes
/// need none.
[[nodiscard]] std::string print_table(const Alibi& alibi, const RelativeTable& table, bool json);
[[nodiscard]] std::string print_table(const T5& t5, const RelativeTable& table, bool json);
[[nodiscard]] std::string print_table(const Deberta& deberta, const RelativeTable& table, bool json);

}  // namespace sextant
