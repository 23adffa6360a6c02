// Slopes and buckets as text and as JSON.
#include "sextant/reports/verbs/table_bias.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sextant/reference/alibi.hpp"
#include "sextant/reference/deberta.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/t5.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

std::string print_buckets(const Encoding& encoding, const char* distance, const TableRequest& table,
                          const std::vector<std::int64_t>& buckets, bool json) {
  if (json) {
    return ordered_json{{"encoding", to_string(encoding)},
                        {"distance", distance},
                        {"positions", table.positions},
                        {"buckets", buckets}}
               .dump(1) +
           "\n";
  }
  std::string text = fmt::format("{}\nbuckets of {}\n\n", to_string(encoding), distance);
  for (std::size_t i = 0; i < buckets.size(); ++i)
    text += fmt::format("  {:>8}  bucket {:>4}\n", table.positions[i], buckets[i]);
  return text;
}

std::string print_slope(const Alibi& alibi, std::int64_t head, const TableRequest& table) {
  if (!table.format) return printed_slope(alibi, head, table.digits);
  const double value = nearest_slope(alibi, head, *table.format);
  return table.format->precision == 53 ? fmt::format("{}", value)
                                       : fmt::format("{}", static_cast<float>(value));
}

}  // namespace

std::string print_table(const Alibi& alibi, const TableRequest& table, bool json) {
  std::vector<std::string> slopes;
  for (std::int64_t h = 0; h < alibi.heads; ++h) slopes.push_back(print_slope(alibi, h, table));
  if (json) {
    ordered_json document = {{"encoding", to_string(Encoding(alibi))}, {"slopes", slopes}};
    if (table.format)
      document["dtype"] = table.format->name;
    else
      document["digits"] = table.digits;
    return document.dump(1) + "\n";
  }
  std::string text = fmt::format("{}\n\nslopes\n", to_string(Encoding(alibi)));
  for (std::size_t h = 0; h < slopes.size(); ++h) text += fmt::format("  head {:>4}  {}\n", h, slopes[h]);
  return text;
}

std::string print_table(const T5& t5, const TableRequest& table, bool json) {
  const LogBuckets direction = log_buckets(t5);
  std::vector<std::int64_t> buckets;
  for (const std::int64_t distance : table.positions) buckets.push_back(bucket(t5, direction, distance));
  return print_buckets(t5, "key - query", table, buckets, json);
}

std::string print_table(const Deberta& deberta, const TableRequest& table, bool json) {
  const LogBuckets direction = log_buckets(deberta);
  std::vector<std::int64_t> buckets;
  for (const std::int64_t distance : table.positions) {
    if (std::abs(distance) > direction.farthest) {
      throw InputError(fmt::format("--positions: buckets of {} are told up to the distance {}, not at {}",
                                   to_string(Encoding(deberta)), direction.farthest, distance));
    }
    buckets.push_back(bucket(direction, distance));
  }
  return print_buckets(deberta, "query - key", table, buckets, json);
}

}  // namespace sextant
