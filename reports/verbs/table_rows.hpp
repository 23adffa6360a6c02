// What `sextant table` shows of a sinusoidal encoding.
#pragma once
#include <string>

#include "sextant/reference/table.hpp"

namespace sextant {

/// Keys encoding, inv_freq (a zero column's is 0), positions, rows (one per position, decimals as strings),
/// and digits or dtype.
[[nodiscard]] std::string rows_json(const RowsRequest& request, const PrintedRows& printed);
[[nodiscard]] std::string rows_text(const RowsRequest& request, const PrintedRows& printed);

}  // namespace sextant
