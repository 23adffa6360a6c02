// learned_lookup: the row of position p is the table's row p + offset, bit for bit, NaN payloads included.
// Teeth: an offset of 0 for 2 or the reverse, a row clamped or wrapped, a row rounded on its way, columns
// that are left. Blind to padding, and to positions past the table (encode_refusals).
#include "sextant/props/encode_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const auto& scheme = std::get<Learned>(*trial.c.encoding);
  const EncodeRequest request = request_of(trial.c);
  const std::vector<float> rows = encoded(trial.kernel, request);
  Measure measure;
  measure.unit = "count";
  std::size_t at = 0;
  for (const std::int64_t position : trial.c.positions) {
    for (std::int64_t j = 0; j < scheme.dim; ++j, ++at) {
      const float want = request.table->at(position + scheme.offset, j);
      measure.take(same_bits_of(rows[at], want) ? 0 : 1, 0, {position, j, "column", rows[at], want});
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law learned_lookup() {
  Law law;
  law.id = "learned_lookup";
  law.title = "the row of position p is the learned table's row p + offset, bit for bit";
  law.blind_to = "padding, positions past the table";
  law.operations = {Operation::encode};
  law.space = on<Learned>([](const Learned& scheme, std::int64_t context, std::uint64_t draw) {
    return encode_space(scheme, context, draw);
  });
  law.check = check;
  return law;
}

}  // namespace sextant
