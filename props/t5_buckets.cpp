// t5_buckets: the bucket of every key - query to the last integer, decided without logarithms
// (reference/t5.hpp): total, monotone, one bucket each below half of a direction's, the last one from
// max_distance on at the latest, a function of the distance alone. As `bias`: each pair has its bucket's row
// of the learned table, per head, bit for bit. Teeth: other orders of operations, logarithms of few bits,
// rounding, the other sign, a missing or misplaced half, a maximum off by one, tables transposed or shifted.
// Blind to where attention adds the bias.
#include "sextant/props/bucket_law.hpp"
#include "sextant/props/rotation_law.hpp"
#include "sextant/reference/t5.hpp"

namespace sextant {
namespace {

/// [buckets, heads]; every fourth value is one that only a copy keeps.
std::vector<float> table_of(const Case& c, std::int64_t buckets) {
  std::vector<float> table;
  for (std::int64_t i = 0; i < buckets * c.heads; ++i)
    table.push_back(i % 4 == static_cast<std::int64_t>(c.seed % 4) ? special_value(c, i)
                                                                   : input_element(c, 3, i, c.head_dim));
  return table;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& t5 = std::get<T5>(*c.encoding);
  const LogBuckets direction = log_buckets(t5);
  const auto bucket_at = [&](std::int64_t query, std::int64_t key) {
    return bucket(t5, direction, key - query);
  };
  if (trial.operation == Operation::buckets) return judge_buckets(trial, t5.max_distance, bucket_at);
  const std::vector<float> table = table_of(c, t5.buckets);
  const std::vector<float> got = kernel_bias(trial, t5, c.heads, 0, table);
  Measure measure;
  measure.unit = "count";
  auto at = got.begin();
  for (std::int64_t h = 0; h < c.heads; ++h) {
    for (const std::int64_t query : c.positions) {
      for (const std::int64_t key : c.key_positions()) {
        const float want = table[static_cast<std::size_t>(bucket_at(query, key) * c.heads + h)];
        measure.take(same_bits(*at, want) ? 0 : 1, 0, {query, h, "bias", *at, want});
        ++at;
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law t5_buckets() {
  Law law;
  law.id = "t5_buckets";
  law.title = "T5: buckets of key - query decided in whole numbers; a bias is its bucket's row of the table";
  law.blind_to = "where attention adds the bias, and with what scale";
  law.operations = {Operation::buckets, Operation::bias};
  law.space = on<T5>([](const T5& t5, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
    CaseSpace space = space_of(t5, context);
    space.head_dim = 2;
    space.negative_positions = true;
    space.keys = true;
    space.distances = distances_that_hurt(log_buckets(t5), t5.max_distance, draw);
    space.max_shift = context;
    space.max_position -= space.max_shift;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
