// What `sextant table` prints of encodings by distance: ALiBi's slopes, T5's and DeBERTa's buckets.
#pragma once
#include <string>

#include "sextant/reference/table.hpp"

namespace sextant {

/// Text, or a JSON document. Positions are distances: T5's are key - query, DeBERTa's query - key; slopes
/// need none.
[[nodiscard]] std::string print_table(const Alibi& alibi, const TableRequest& table, bool json);
[[nodiscard]] std::string print_table(const T5& t5, const TableRequest& table, bool json);
[[nodiscard]] std::string print_table(const Deberta& deberta, const TableRequest& table, bool json);

}  // namespace sextant
