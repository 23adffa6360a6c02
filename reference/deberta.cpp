// Text form and validity of DeBERTa's buckets.
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMaxDistance = std::int64_t{1} << 31;

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
        fmt::format("deberta: max_position={} lies inside the exact range of {} distances; use more than {}",
                    scheme.max_position, *scheme.buckets / 2, *scheme.buckets / 2 + 1));
}

}  // namespace sextant
