// shaw_clipping: the row of a key and a query is clip(key - query, -left, right) + left, exactly, at every
// distance. Teeth: clipped to [-right, left], key and query exchanged, the row before it is moved to 0, one
// row too few, a difference in 32 bits. Blind to nothing that is wrong at a distance that is tried: all near
// 0 and both ends, and far ones.
#include <bit>
#include <limits>

#include "sextant/props/guarded.hpp"
#include "sextant/props/law.hpp"
#include "sextant/reference/shaw.hpp"

namespace sextant {
namespace {

/// Positions as i32 where they fit and the case says so, else as i64.
struct Positions {
  Positions(std::vector<std::int64_t> positions, bool in_32_bits) : wide(std::move(positions)) {
    for (const std::int64_t position : wide) in_32_bits = in_32_bits && std::in_range<std::int32_t>(position);
    if (in_32_bits) narrow.assign(wide.begin(), wide.end());
  }
  [[nodiscard]] Tensor view() {
    return narrow.empty() ? dense(wide.data(), DType::i64, wide.size())
                          : dense(narrow.data(), DType::i32, narrow.size());
  }
  std::vector<std::int64_t> wide;
  std::vector<std::int32_t> narrow;
};

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const Shaw& scheme = std::get<Shaw>(*c.encoding);
  Positions queries(c.positions, c.seed % 2 == 0), keys(c.key_positions(), c.seed % 2 == 0);
  Guarded buckets(static_cast<std::size_t>(c.tokens() * c.key_tokens()));
  trial.kernel.buckets({*c.encoding, queries.view(), keys.view(),
                        dense(buckets.data(), DType::i32, c.tokens(), c.key_tokens())});
  buckets.check_margins("buckets");
  const std::vector<float> got = buckets.content();
  Measure measure;
  measure.unit = "count";
  std::size_t at = 0;
  for (const std::int64_t query : c.positions) {
    for (const std::int64_t key : c.key_positions()) {
      const auto row = std::bit_cast<std::int32_t>(got[at++]);
      const std::int64_t want = shaw_row(scheme, query, key);
      measure.take(row == want ? 0 : 1, 0,
                   {query, key, "bucket", static_cast<double>(row), static_cast<double>(want)});
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law shaw_clipping() {
  Law law;
  law.id = "shaw_clipping";
  law.title = "the row of a key and a query is clip(key - query, -left, right) + left, at every distance";
  law.blind_to = "distances that were not tried";
  law.operations = {Operation::buckets};
  law.space =
      on<Shaw>([](const Shaw& scheme, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(scheme, context);
        space.negative_positions = true;
        space.keys = true;
        for (const std::int64_t edge : {-scheme.left, std::int64_t{0}, scheme.right}) {
          for (const std::int64_t step : {-2, -1, 0, 1, 2}) space.distances.push_back(edge + step);
        }
        for (const std::int64_t far : {1000 + 2 * (scheme.left + scheme.right), std::int64_t{1} << 30})
          space.distances.insert(space.distances.end(), {far, -far});
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
