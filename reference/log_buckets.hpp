// Buckets of distances: one for each distance at first, then ever wider ones, decided in whole numbers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sextant {

/// Distance r >= 0 lies in bucket r below `exact`; beyond, the bucket is one more from each of `firsts` on.
struct LogBuckets {
  std::int64_t exact = 0;
  std::vector<std::int64_t> firsts;  ///< ascending; one distance may begin several buckets
  std::int64_t farthest = 0;         ///< the distances beyond are not told apart

  [[nodiscard]] std::int64_t of(std::int64_t distance) const {
    if (distance < exact) return distance;
    return exact + (std::upper_bound(firsts.begin(), firsts.end(), distance) - firsts.begin());
  }
  bool operator==(const LogBuckets&) const = default;
};

/// The largest r with r^q <= a^p b^(q-p), floor of the real a (a/b)^((p-q)/q), for p/q in any terms; at most
/// 2^40. No rounding enters: powers and roots of whole numbers. a, b >= 1, p >= 0, q >= 1.
[[nodiscard]] std::int64_t floor_between(std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q);
/// Whether that r is the real itself.
[[nodiscard]] bool is_between(std::int64_t r, std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q);

}  // namespace sextant
