// transformer_xl_rows: a row of the list of distances holds sin and cos of rel 10000^(-2i/dim), rel the
// distance clipped to +-clamp, in the columns of the form: against the exact values, within the contract's
// bound of a table entry (the angles are those of a RoPE of the same width). Teeth: the clamp missing or one
// off, on distances > 0 alone, sines and cosines exchanged, the other form's columns, distances counted the
// other way, exponent i/(n-1). Blind to what projects the rows.
#include "sextant/props/guarded.hpp"
#include "sextant/props/law.hpp"
#include "sextant/reference/transformer_xl.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const TransformerXl& scheme = std::get<TransformerXl>(*c.encoding);
  const Rope rope = rotary_of(scheme);
  ExactRows& truth = trial.truths.rows(rope, 1);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, 1);
  std::vector<std::int64_t> distances = c.positions;
  Guarded rows(static_cast<std::size_t>(c.tokens() * scheme.dim), c.dtype);
  trial.kernel.encode({*c.encoding,
                       dense(distances.data(), DType::i64, distances.size()),
                       {},
                       {},
                       dense(rows.data(), c.dtype, c.tokens(), scheme.dim)});
  rows.check_margins("rows");
  if (distances != c.positions) throw Misbehaved("the kernel changed its input positions");
  const std::vector<float> got = rows.content();
  Measure measure;
  measure.unit = "abs";
  for (std::int64_t s = 0; s < c.tokens(); ++s) {
    const std::int64_t distance = c.positions[static_cast<std::size_t>(s)];
    const std::int64_t clamped = clamped_distance(scheme, distance);
    const ExactRow& row = truth.at(clamped);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const Wide& cos = row.cos[static_cast<std::size_t>(i)];
      const Wide& sin = row.sin[static_cast<std::size_t>(i)];
      const PairBound at = bounds.pair(i, clamped, cos.value(), sin.value());
      const SinusoidColumns columns = sinusoid_columns(sinusoids_of(scheme), i);
      const auto judge = [&](std::int64_t column, const Wide& want, double entry, const Wide& partner,
                             const char* function) {
        const ElementBound bound = bounds.table_entry(at, entry, want.value(), partner.value());
        if (!bound.claim) return measure.skip();
        const float value = got[static_cast<std::size_t>(s * scheme.dim + column)];
        const double error = std::isfinite(value) ? std::fabs((Wide(value) - want).value()) : INFINITY;
        measure.take(error, bound.absolute, {distance, i, function, value, want.value()});
      };
      judge(columns.sine, sin, at.sin, cos, "sin");
      judge(columns.cosine, cos, at.cos, sin, "cos");
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law transformer_xl_rows() {
  Law law;
  law.id = "transformer_xl_rows";
  law.title =
      "rows of distances hold the sines and cosines of the clamped distance, in the columns of the form";
  law.blind_to = "what projects the rows";
  law.operations = {Operation::encode};
  law.space = on<TransformerXl>(
      [](const TransformerXl& scheme, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(scheme, context);
        space.negative_positions = true;
        // By turns around the clamp, where most distances would lie beyond it.
        if (scheme.clamp > 0 && draw % 2 == 0) space.context = 2 * scheme.clamp;
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
