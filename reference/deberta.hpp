// DeBERTa's buckets of relative = query - key (He et al. 2021; HuggingFace make_log_bucket_position), signed.
//
// With mid = buckets/2 and mp = max_position, a = |relative| lies in bucket a up to mid, then in
//   mid + ceil( ln(a/mid) / ln((mp-1)/mid) (mid-1) ),
// which is mid + k for the smallest k with a^(mid-1) mid^k <= (mp-1)^k mid^(mid-1): a comparison of whole
// numbers. The sign is that of relative. Beyond mp - 1 the buckets go on past 2 mid - 1, as upstream's do
// before they are clamped for the table. Without buckets (v1) the bucket is the relative position itself.
#pragma once
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/log_buckets.hpp"

namespace sextant {

/// The buckets of one direction, up to the distance 2^40 or bucket 4096, whichever comes first and not before
/// max_position - 1: beyond LogBuckets::farthest nothing is said.
[[nodiscard]] LogBuckets log_buckets(const Deberta& deberta);

/// The bucket of query - key, |query - key| <= farthest.
[[nodiscard]] inline std::int64_t bucket(const LogBuckets& direction, std::int64_t relative) {
  return relative < 0 ? -direction.of(-relative) : direction.of(relative);
}

}  // namespace sextant
