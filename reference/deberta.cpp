// Text form and validity of DeBERTa's buckets, and where they begin.
#include "sextant/reference/deberta.hpp"

#include <limits>

#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMaxDistance = std::int64_t{1} << 31;
constexpr std::int64_t kLastBucket = kMaxBuckets;

}  // namespace

void read(Reader& reader, Deberta& scheme) {
  scheme.buckets = reader.integer("buckets");
  scheme.max_position = reader.integer("max_position").value_or(512);
}

void print(Printer& printer, const Deberta& scheme) {
  printer.add("buckets", scheme.buckets).add("max_position", scheme.max_position);
}

void check(const Deberta& scheme) {
  check_whole("deberta: max_position", scheme.max_position, 1, kMaxDistance);
  if (!scheme.buckets) return;
  check_whole("deberta: buckets", *scheme.buckets, 4, kMaxBuckets);
  if (*scheme.buckets % 2 != 0)
    throw InputError(fmt::format("deberta: buckets is {}; an even number is needed", *scheme.buckets));
  if (scheme.max_position - 1 <= *scheme.buckets / 2)
    throw InputError(
        fmt::format("deberta: max_position={} leaves no distance beyond the {} exact ones; use more than {}",
                    scheme.max_position, *scheme.buckets / 2, *scheme.buckets / 2 + 1));
}

LogBuckets log_buckets(const Deberta& deberta) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  if (!deberta.buckets) return {kAll, {}, kAll};
  const std::int64_t mid = *deberta.buckets / 2;
  LogBuckets buckets{mid, {}, mid};
  for (std::int64_t k = 1; buckets.farthest < kMaxPosition && mid + k <= kLastBucket; ++k) {
    buckets.firsts.push_back(buckets.farthest + 1);
    buckets.farthest = floor_between(deberta.max_position - 1, mid, k, mid - 1);
  }
  return buckets;
}

}  // namespace sextant
