// encode_decode_equals_prefill: a decode step at past_len gets the row that a prefill over all positions has
// there, whatever the chunks; learned and sinusoidal alike. Teeth: a step at position 0 or at its own index,
// a step one off, a row kept from the call before. Blind to faults that prefill and decode share. Learned
// rows are compared bit for bit, sinusoidal ones where the contract claims bits, else within the sum of both
// bounds.
#include <numeric>

#include "sextant/props/encode_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto width = static_cast<std::size_t>(width_of(*c.encoding));
  EncodeRequest request = request_of(c);
  std::vector<std::int64_t> positions(c.positions.size());
  std::iota(positions.begin(), positions.end(), c.shift);
  request.positions = positions;
  const std::vector<float> whole = encoded(trial.kernel, request);
  SameRows same(trial);
  const auto compare = [&](std::size_t first, std::size_t count) {
    const auto begin = positions.begin() + static_cast<std::ptrdiff_t>(first);
    request.positions.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    const std::vector<float> rows = encoded(trial.kernel, request);
    for (std::size_t i = 0; i < count; ++i)
      same.judge(positions[first + i], rows.data() + i * width, whole.data() + (first + i) * width);
  };
  for (std::size_t s = 0; s < positions.size(); ++s) compare(s, 1);
  for (std::size_t s = 0; s < positions.size();) {
    const std::size_t count = std::min(positions.size() - s, std::size_t{1} + scatter(c.seed + s) % 4);
    compare(s, count);
    s += count;
  }
  return judged(std::move(same).measure());
}

}  // namespace

Law encode_decode_equals_prefill() {
  Law law;
  law.id = "encode_decode_equals_prefill";
  law.title = "a decode step at past_len gets the row that a prefill has there, in any chunks";
  law.blind_to = "faults that prefill and decode share, padding";
  law.operations = {Operation::encode};
  law.space = [](const std::optional<Encoding>& encoding, std::int64_t context, std::uint64_t draw) {
    std::optional<CaseSpace> space = encode_space(encoding, context, draw);
    if (!space) return space;
    space->negative_positions = false;
    space->consecutive = true;  // and all of them later by the past length, the shift
    space->max_tokens = std::min<std::int64_t>(space->max_tokens, space->max_position + 1);
    space->max_shift =
        std::min(std::max<std::int64_t>(context, 2), space->max_position + 1 - space->max_tokens);
    return space;
  };
  law.check = check;
  return law;
}

}  // namespace sextant
