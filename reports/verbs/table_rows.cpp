// sextant table of a sinusoidal encoding: exact rows.
#include "sextant/reports/verbs/table_rows.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sextant/reference/error.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reference/table.hpp"

namespace sextant {
namespace {

constexpr const char* name_of(SinusoidColumn::Function function) {
  switch (function) {
    case SinusoidColumn::Function::sine:
      return "sin";
    case SinusoidColumn::Function::cosine:
      return "cos";
    case SinusoidColumn::Function::zero:
      break;
  }
  return "zero";
}

}  // namespace

std::string rows_json(const RowsRequest& request, const PrintedRows& printed) {
  nlohmann::ordered_json document = {
      {"encoding", to_string(Encoding(request.scheme))},
      {"inv_freq", printed.inv_freq},
      {"positions", request.positions},
      {"rows", printed.rows},
  };
  if (request.format) {
    document["dtype"] = request.format->name;
  } else {
    document["digits"] = request.digits;
  }
  return document.dump(1) + "\n";
}

std::string rows_text(const RowsRequest& request, const PrintedRows& printed) {
  const std::vector<SinusoidColumn> columns = columns_of(request.scheme);
  std::string text = fmt::format("{}\n\ninv_freq\n", to_string(Encoding(request.scheme)));
  for (std::size_t k = 0; k < printed.inv_freq.size(); ++k)
    text += fmt::format("  pair {:>4}  {}\n", k, printed.inv_freq[k]);
  for (std::size_t r = 0; r < printed.rows.size(); ++r) {
    text += fmt::format("\nposition {}\n", request.positions[r]);
    for (std::size_t j = 0; j < printed.rows[r].size(); ++j) {
      const std::int64_t pair = columns[j].frequency + columns[j].axis * pairs_per_axis(request.scheme);
      const std::string of = columns[j].function == SinusoidColumn::Function::zero
                                 ? "zero"
                                 : fmt::format("{} of pair {}", name_of(columns[j].function), pair);
      text += fmt::format("  column {:>4}  {:>{}}  {}\n", j, printed.rows[r][j], request.digits + 3, of);
    }
  }
  return text;
}

}  // namespace sextant
