// encode_padding: a padded token's row is zeros in a sinusoidal scheme, row offset - 1 of the table in a
// learned one, and the other rows are what they are without a mask. Teeth: a mask ignored, inverted or
// applied to a neighbour, padding that reads row 0 or the position's own, rows shifted by the padding before
// them. Blind to how positions are made from a mask.
#include "sextant/props/encode_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto* learned = std::get_if<Learned>(&*c.encoding);
  const std::int64_t width = width_of(*c.encoding);
  EncodeRequest request = request_of(c);
  const std::vector<float> plain = encoded(trial.kernel, request);
  for (std::size_t s = 0; s < c.positions.size(); ++s)
    request.mask.push_back(scatter(c.seed ^ (s + 1)) % 2 == 0 ? 0 : 1);
  request.mask[scatter(c.seed) % request.mask.size()] = 0;
  const std::vector<float> rows = encoded(trial.kernel, request);

  SameRows same(trial);
  Measure padding;
  for (std::size_t s = 0; s < c.positions.size(); ++s) {
    const std::size_t first = s * static_cast<std::size_t>(width);
    if (request.mask[s] != 0) {
      same.judge(c.positions[s], rows.data() + first, plain.data() + first);
      continue;
    }
    for (std::int64_t j = 0; j < width; ++j) {
      const float got = rows[first + static_cast<std::size_t>(j)];
      const float want = learned ? request.table->at(learned->offset - 1, j) : 0;
      const bool right = learned ? same_bits_of(got, want) : got == 0;
      padding.take(right ? 0 : INFINITY, 0, {c.positions[s], j, "padded column", got, want});
    }
  }
  Measure measure = std::move(same).measure();
  measure += padding;
  return judged(std::move(measure));
}

}  // namespace

Law encode_padding() {
  Law law;
  law.id = "encode_padding";
  law.title = "padded tokens get zeros, or the table's row offset - 1; other rows do not change";
  law.blind_to = "how positions are made from a mask";
  law.operations = {Operation::encode};
  law.space = [](const std::optional<Encoding>& encoding, std::int64_t context,
                 std::uint64_t draw) -> std::optional<CaseSpace> {
    const Learned* learned = encoding ? std::get_if<Learned>(&*encoding) : nullptr;
    if (learned && learned->offset == 0) return std::nullopt;  // has no row for padding: encode_refusals
    return encode_space(encoding, context, draw);
  };
  law.check = check;
  return law;
}

}  // namespace sextant
