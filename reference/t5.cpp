// Text form and validity of T5's buckets, and where they begin.
#include "sextant/reference/t5.hpp"

#include <limits>

#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMaxDistance = std::int64_t{1} << 31;

}  // namespace

void read(Reader& reader, T5& scheme) {
  scheme.buckets = reader.integer("buckets").value_or(32);
  scheme.max_distance = reader.integer("max_distance").value_or(128);
  scheme.bidirectional = reader.flag("bidirectional").value_or(true);
}

void print(Printer& printer, const T5& scheme) {
  printer.add("buckets", scheme.buckets)
      .add("max_distance", scheme.max_distance)
      .add("bidirectional", std::string(scheme.bidirectional ? "true" : "false"));
}

void check(const T5& scheme) {
  check_whole("t5: buckets", scheme.buckets, 1, kMaxBuckets);
  if (scheme.bidirectional && scheme.buckets % 2 != 0)
    throw InputError(fmt::format("t5: buckets is {}; an even number is needed, half of it for each direction",
                                 scheme.buckets));
  const std::int64_t exact = buckets_per_direction(scheme) / 2;
  if (exact < 1)
    throw InputError(fmt::format("t5: buckets={} leaves no exact bucket in a direction; use {} or more",
                                 scheme.buckets, scheme.bidirectional ? 4 : 2));
  check_whole("t5: max_distance", scheme.max_distance, 1, kMaxDistance);
  if (scheme.max_distance <= exact)
    throw InputError(
        fmt::format("t5: max_distance={} lies inside the exact range of {} distances; use more than {}",
                    scheme.max_distance, exact, exact));
}

LogBuckets log_buckets(const T5& t5) {
  const std::int64_t count = buckets_per_direction(t5);
  LogBuckets buckets{count / 2, {}, std::numeric_limits<std::int64_t>::max()};
  const std::int64_t steps = count - buckets.exact;
  for (std::int64_t k = 1; k < steps; ++k) {
    const std::int64_t below = floor_between(t5.max_distance, buckets.exact, k, steps);
    const bool reached = is_between(below, t5.max_distance, buckets.exact, k, steps);
    buckets.firsts.push_back(reached ? below : below + 1);
  }
  return buckets;
}

}  // namespace sextant
