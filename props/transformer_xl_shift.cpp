// transformer_xl_shift: whatever trick a kernel plays with the list of distances, scores are the direct sum
// scale (<q + u, k> + <q + v, R of query - key>) and outputs its softmax times the values, for all keys where
// the list runs both ways, with as many keys as queries or more, in a decode step too: against the exact
// values, within the bound of float32 attention (relative_law.hpp). Teeth: the shift one off, not done at
// all, R in reverse, u and v exchanged, the other form's list, the scale on one term only, the next row's
// value past the diagonal. Blind to R itself, which is given: its sinusoids are another law's.
#include "sextant/props/relative_law.hpp"
#include "sextant/reference/transformer_xl.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  if (c.key_tokens() < c.tokens()) return unsupported("fewer keys than queries");
  const TransformerXl& scheme = std::get<TransformerXl>(*c.encoding);
  RelativeInputs in = relative_inputs(c);
  for (const int stream : {3, 4}) in.tables.push_back(drawn_table(c, stream, {c.heads, c.head_dim}));
  in.tables.push_back(
      drawn_table(c, 5, {transformer_xl_rows(scheme, c.tokens(), c.key_tokens()), c.heads, c.head_dim}));
  const RelativeOutputs got = run_relative(trial.kernel, *c.encoding, in);
  const auto scores = [&]<class Real>(std::int64_t b, std::int64_t h, const Real& scale, bool magnitudes) {
    const auto bias = [&](std::size_t table) {
      return in.tables[table].rows<Real>(0, magnitudes)[static_cast<std::size_t>(h)];
    };
    return transformer_xl_scores(scheme, head_rows<Real>(in.q, b, h, magnitudes),
                                 head_rows<Real>(in.k, b, h, magnitudes), bias(0), bias(1),
                                 in.tables[2].rows<Real>(h, magnitudes), scale);
  };
  return judge_relative(
      in, got, 4 * c.head_dim,
      [&](std::int64_t b, std::int64_t h) {
        return HeadTruth{scores(b, h, Wide(in.scale), false), scores(b, h, in.scale, true)};
      },
      [](std::int64_t, std::int64_t) { return static_cast<const float*>(nullptr); });
}

}  // namespace

Law transformer_xl_shift() {
  Law law;
  law.id = "transformer_xl_shift";
  law.title = "the relative shift is the direct sum: each key meets the row of its own distance";
  law.blind_to = "R itself, which is given";
  law.operations = {Operation::relative};
  law.space = on<TransformerXl>(
      [](const TransformerXl& scheme, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(scheme, context);
        space.consecutive = true;
        space.bounded_inputs = true;
        space.keys = true;
        if (draw % 4 == 0) space.max_tokens = 1;  // a decode step
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
