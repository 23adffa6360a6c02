// The exact table of an encoding, printed: what `sextant table` shows.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/encoding.hpp"

namespace sextant {

struct TableRequest {
  Rope rope;
  std::int64_t seq_len = 0;
  std::vector<std::int64_t> positions;
  unsigned digits = 20;            ///< significant digits
  const Format* format = nullptr;  ///< instead of digits: the nearest value of this format, shortest text
};

/// Decimals as text, correctly rounded: inv_freq [pairs], bare cos and sin [positions][pairs].
struct PrintedTable {
  std::vector<std::string> inv_freq;
  std::string attention_factor;
  std::vector<std::vector<std::string>> cos, sin;
};

/// `row_done(rows)` is called after every row.
[[nodiscard]] PrintedTable print_table(const TableRequest& request,
                                       const std::function<void(std::size_t)>& row_done);

struct RowsRequest {
  Sinusoidal scheme;
  std::vector<std::int64_t> positions;
  unsigned digits = 20;
  const Format* format = nullptr;
};

/// Decimals as text, correctly rounded: frequencies [pairs], rows [positions][dim]. Throws InputError for a
/// position without a row.
struct PrintedRows {
  std::vector<std::string> inv_freq;
  std::vector<std::vector<std::string>> rows;
};
[[nodiscard]] PrintedRows print_rows(const RowsRequest& request,
                                     const std::function<void(std::size_t)>& row_done);

/// The table a perfect kernel would make: A cos and A sin (or bare), row-major [positions, pairs], each the
/// value of `format` nearest to the exact one, as doubles that hold it exactly.
struct RoundedTable {
  std::vector<double> cos, sin;
};
[[nodiscard]] RoundedTable round_table(const TableRequest& request, bool bare,
                                       const std::function<void(std::size_t)>& row_done);

}  // namespace sextant
