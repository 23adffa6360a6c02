// What the laws of T5's and DeBERTa's buckets share.
#pragma once
#include <algorithm>
#include <functional>

#include "sextant/props/bias_call.hpp"
#include "sextant/reference/log_buckets.hpp"

namespace sextant {

/// A kernel's buckets against whole numbers: at the case's positions, again moved by its shift, since buckets
/// depend on the distance alone, and of one query at every distance up to twice `last`, 1024 at most.
[[nodiscard]] inline Outcome judge_buckets(
    const Trial& trial, std::int64_t last,
    const std::function<std::int64_t(std::int64_t query, std::int64_t key)>& bucket) {
  Measure measure;
  measure.unit = "count";
  const auto judge = [&](const Case& c, std::int64_t shift) {
    const Trial at{c, trial.operation, trial.kernel, trial.contract, trial.truths};
    const std::vector<std::int32_t> got = kernel_buckets(at, *c.encoding, shift);
    auto next = got.begin();
    for (const std::int64_t query : c.positions) {
      for (const std::int64_t key : c.key_positions()) {
        const std::int64_t want = bucket(query, key);
        measure.take(*next == want ? 0 : 1, 0,
                     {query, key - query, "bucket", static_cast<double>(*next), static_cast<double>(want)});
        ++next;
      }
    }
  };
  judge(trial.c, 0);
  judge(trial.c, trial.c.shift);
  Case every = trial.c;
  const std::int64_t reach =
      std::min({2 * last, std::int64_t{1024}, trial.kernel.capabilities.max_position / 2});
  every.positions = {reach};
  every.keys.clear();
  for (std::int64_t key = 0; key <= 2 * reach; ++key) every.keys.push_back(key);
  judge(every, 0);
  return judged(std::move(measure));
}

/// Pairs on both sides of the ends of the exact and of the last bucket in every other draw, and of every
/// boundary in the rest, in both directions.
[[nodiscard]] inline std::vector<std::int64_t> distances_that_hurt(const LogBuckets& buckets,
                                                                   std::int64_t last, std::uint64_t draw) {
  std::vector<std::int64_t> distances = {0};
  const auto take = [&](std::int64_t distance) {
    for (const std::int64_t near : {distance - 1, distance, distance + 1}) {
      distances.push_back(near);
      distances.push_back(-near);
    }
  };
  for (const std::int64_t edge : {std::int64_t{1}, buckets.exact, last, std::int64_t{1000000}})
    if (edge <= buckets.farthest && edge < kMaxPosition) take(edge);
  if (draw % 2 == 0) return distances;
  for (const std::int64_t first : buckets.firsts)
    if (first <= 2 * last) take(first);
  return distances;
}

}  // namespace sextant
