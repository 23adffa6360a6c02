// T5's buckets of relative = key - query (Raffel et al. 2020; HuggingFace _relative_position_bucket).
//
// A direction has nb buckets, e = floor(nb/2) of them exact. From r = e on, with D = max_distance,
//   bucket = e + min(nb - 1 - e, floor( ln(r/e) / ln(D/e) (nb - e) )),
// which steps up to e + k at the first r with r^(nb-e) e^k >= D^k e^(nb-e): a comparison of whole numbers.
// Bidirectional: nb is half of all buckets, and keys after the query take the upper half. Causal: all of them
// for keys up to the query, and those after it count as distance 0.
#pragma once
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/log_buckets.hpp"

namespace sextant {

/// nb, and how many of them are exact.
[[nodiscard]] constexpr std::int64_t buckets_per_direction(const T5& t5) {
  return t5.bidirectional ? t5.buckets / 2 : t5.buckets;
}

/// The buckets of one direction.
[[nodiscard]] LogBuckets log_buckets(const T5& t5);

/// The bucket of key - query.
[[nodiscard]] inline std::int64_t bucket(const T5& t5, const LogBuckets& direction, std::int64_t relative) {
  if (!t5.bidirectional) return direction.of(relative < 0 ? -relative : 0);
  return relative > 0 ? buckets_per_direction(t5) + direction.of(relative) : direction.of(-relative);
}

}  // namespace sextant
