// shaw_attention: scores are scale (<q, k> + <q, a_row>) and outputs softmax(scores) (v + b_row), a and b the
// learned rows of clip(key - query, -left, right): against the exact values, within the bound of float32
// attention (relative_law.hpp). Teeth: clipped to [-right, left], key and query exchanged, the values' term
// missing, the scale on one term only, the row taken by query - key, queries not placed last among the keys.
// Blind to a table wrong in rows that no distance of a case reaches, and to what lies within the bound.
#include "sextant/props/relative_law.hpp"
#include "sextant/reference/shaw.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kMostRows = 4096;  ///< of a table that is drawn

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  if (c.key_tokens() < c.tokens()) return unsupported("fewer keys than queries");
  const Shaw& scheme = std::get<Shaw>(*c.encoding);
  RelativeInputs in = relative_inputs(c);
  for (const int stream : {3, 4})
    in.tables.push_back(drawn_table(c, stream, {shaw_rows(scheme), c.head_dim}));
  if (!scheme.values) in.tables.pop_back();
  const RelativeOutputs got = run_relative(trial.kernel, *c.encoding, in);
  const Rows<Wide> a = in.tables[0].rows<Wide>(0);
  const Rows<double> a_magnitudes = in.tables[0].rows<double>(0, true);
  return judge_relative(
      in, got, 2 * c.head_dim,
      [&](std::int64_t b, std::int64_t h) {
        return HeadTruth{
            shaw_scores(scheme, head_rows<Wide>(in.q, b, h), head_rows<Wide>(in.k, b, h), a, Wide(in.scale)),
            shaw_scores(scheme, head_rows<double>(in.q, b, h, true), head_rows<double>(in.k, b, h, true),
                        a_magnitudes, in.scale)};
      },
      [&](std::int64_t i, std::int64_t j) {
        return scheme.values ? in.tables[1].row(shaw_row(scheme, in.k.tokens - in.q.tokens + i, j), 0)
                             : nullptr;
      });
}

}  // namespace

Law shaw_attention() {
  Law law;
  law.id = "shaw_attention";
  law.title =
      "scores and outputs with learned rows added to keys and values are the exact ones within the bound";
  law.blind_to = "rows that no distance of a case reaches";
  law.operations = {Operation::relative};
  law.space =
      on<Shaw>([](const Shaw& scheme, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (shaw_rows(scheme) > kMostRows) return std::nullopt;
        CaseSpace space = space_of(scheme, context);
        space.consecutive = true;
        space.bounded_inputs = true;
        space.keys = true;
        if (draw % 4 == 0) {  // past both ends, in one head
          space.max_tokens = std::min<std::int64_t>(shaw_rows(scheme) + 4, 96);
          space.heads = 1;
        }
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
