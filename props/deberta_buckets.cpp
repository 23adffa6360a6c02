// deberta_buckets: the signed bucket of every query - key to the last integer, decided without logarithms
// (reference/deberta.hpp): total, monotone, odd, the distance itself up to half of the buckets, a function of
// the distance alone; without buckets the distance itself. Teeth: floor for ceil, the other sign, a maximum
// off by one, the last distance past its bucket. Blind to how an index is clamped and gathered.
#include <algorithm>

#include "sextant/fixtures/kernels/kept.hpp"
#include "sextant/props/bucket_law.hpp"
#include "sextant/reference/deberta.hpp"

namespace sextant {
namespace {

LogBuckets direction_of(const Deberta& deberta) {
  return kept<LogBuckets>(deberta, 0, [&] { return log_buckets(deberta); });
}

Outcome check(const Trial& trial) {
  const auto& deberta = std::get<Deberta>(*trial.c.encoding);
  const LogBuckets direction = direction_of(deberta);
  return judge_buckets(trial, std::min(deberta.max_position, direction.farthest / 2),
                       [&](std::int64_t query, std::int64_t key) { return bucket(direction, query - key); });
}

}  // namespace

Law deberta_buckets() {
  Law law;
  law.id = "deberta_buckets";
  law.title = "DeBERTa: signed buckets of query - key decided in whole numbers";
  law.blind_to = "how an index is clamped to the table";
  law.operations = {Operation::buckets};
  law.space = on<Deberta>(
      [](const Deberta& deberta, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        const LogBuckets direction = direction_of(deberta);
        CaseSpace space = space_of(deberta, context);
        space.head_dim = 2;
        space.negative_positions = deberta.buckets.has_value();  // an int32 holds the distance of v1 else
        space.keys = true;
        space.distances = distances_that_hurt(direction, deberta.max_position, draw);
        const std::int64_t reach = std::min(space.max_position, direction.farthest / 2);
        space.max_shift = std::min(context, reach / 4);
        space.max_position = reach - space.max_shift;
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
