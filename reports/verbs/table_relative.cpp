#include "sextant/reports/verbs/table_relative.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sextant/reference/error.hpp"
#include "sextant/reference/shaw.hpp"
#include "sextant/reference/transformer_xl.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kMaxPrintedCharacters = std::int64_t{1} << 28;

nlohmann::ordered_json header(const Encoding& encoding, const TableRequest& request) {
  return {{"encoding", to_string(encoding)}, {"positions", request.positions}};
}

std::string rows_of(const Shaw& scheme, const TableRequest& request, bool json) {
  std::vector<std::int64_t> rows;
  for (const std::int64_t distance : request.positions) rows.push_back(shaw_row(scheme, 0, distance));
  if (json) {
    nlohmann::ordered_json document = header(scheme, request);
    document["buckets"] = rows;
    return document.dump(1) + "\n";
  }
  std::string text =
      fmt::format("{}\n{} rows\n\n  key - query  row\n", to_string(Encoding(scheme)), shaw_rows(scheme));
  for (std::size_t s = 0; s < rows.size(); ++s)
    text += fmt::format("  {:>11}  {}\n", request.positions[s], rows[s]);
  return text;
}

std::string rows_of(const TransformerXl& scheme, TableRequest request, bool json) {
  const std::int64_t width = request.format ? 24 : static_cast<std::int64_t>(request.digits) + 12;
  if (static_cast<std::int64_t>(request.positions.size()) * scheme.dim * width > kMaxPrintedCharacters)
    throw InputError(
        fmt::format("{} distances of {} columns are over 2^28 characters to print; ask for fewer",
                    request.positions.size(), scheme.dim));
  const TableRequest asked = request;
  request.rope = rotary_of(scheme);
  request.seq_len = 1;
  for (std::int64_t& distance : request.positions) distance = clamped_distance(scheme, distance);
  PrintedTable table = print_table(request, [](std::size_t) {});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t s = 0; s < table.cos.size(); ++s) {
    std::vector<std::string>& row = rows.emplace_back(static_cast<std::size_t>(scheme.dim));
    for (std::int64_t i = 0; i < scheme.dim / 2; ++i) {
      const SinusoidColumns columns = sinusoid_columns(sinusoids_of(scheme), i);
      row[static_cast<std::size_t>(columns.sine)] = std::move(table.sin[s][static_cast<std::size_t>(i)]);
      row[static_cast<std::size_t>(columns.cosine)] = std::move(table.cos[s][static_cast<std::size_t>(i)]);
    }
  }
  if (json) {
    nlohmann::ordered_json document = header(scheme, asked);
    document["rows"] = rows;
    if (request.format)
      document["dtype"] = request.format->name;
    else
      document["digits"] = request.digits;
    return document.dump(1) + "\n";
  }
  std::string text = fmt::format("{}\n", to_string(Encoding(scheme)));
  for (std::size_t s = 0; s < rows.size(); ++s) {
    text += fmt::format("\nquery - key {}\n", asked.positions[s]);
    for (std::size_t c = 0; c < rows[s].size(); ++c)
      text += fmt::format("  column {:>4}  {:>{}}\n", c, rows[s][c], request.digits + 3);
  }
  return text;
}

}  // namespace

std::optional<std::string> relative_table(const Encoding& encoding, TableRequest request, bool json) {
  if (const Shaw* shaw = std::get_if<Shaw>(&encoding)) return rows_of(*shaw, request, json);
  if (const auto* scheme = std::get_if<TransformerXl>(&encoding))
    return rows_of(*scheme, std::move(request), json);
  if (std::holds_alternative<Nope>(encoding))
    throw InputError("table: nope() encodes no position, there is nothing to print");
  return std::nullopt;
}

}  // namespace sextant
