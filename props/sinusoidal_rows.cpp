// sinusoidal_rows: every element of a row against the exact value, within the contract's bound of a table
// entry; zero columns are 0. Teeth: columns permuted (halves exchanged, interleaved for halves, sines for
// cosines), exponents of another layout, another base, a position off by one or in 16 bits, a grid read
// sideways. Blind to padding, and to what happens between calls.
#include <cmath>

#include "sextant/props/encode_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const auto& scheme = std::get<Sinusoidal>(*trial.c.encoding);
  ExactRows& truth = trial.truths.rows(scheme);
  const Bounds& bounds = trial.truths.bounds(trial.contract, scheme);
  const std::vector<float> rows = encoded(trial.kernel, request_of(trial.c));
  Measure measure;
  measure.unit = "abs";
  for (std::size_t s = 0; s < trial.c.positions.size(); ++s) {
    const std::int64_t position = trial.c.positions[s];
    const float* row = rows.data() + s * static_cast<std::size_t>(scheme.dim);
    for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
      const PairEntries pair = pair_entries(scheme, truth, bounds, row, position, k);
      if (k >= sinusoid_pairs(scheme) - zero_columns(scheme)) {
        measure.take(pair.sin == 0 ? 0 : INFINITY, 0, {position, k, "zero", pair.sin, 0});
        continue;
      }
      const auto judge = [&](float got, const Wide& want, double entry, const Wide& partner,
                             const char* function) {
        const ElementBound bound = bounds.table_entry(pair.at, entry, want.value(), partner.value());
        if (!bound.claim) return measure.skip();
        measure.take(std::isfinite(got) ? std::fabs((Wide(got) - want).value()) : INFINITY, bound.absolute,
                     {position, k, function, got, want.value()});
      };
      judge(pair.sin, pair.exact_sin, pair.at.sin, pair.exact_cos, "sin");
      if (k < whole_pairs(scheme)) judge(pair.cos, pair.exact_cos, pair.at.cos, pair.exact_sin, "cos");
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law sinusoidal_rows() {
  Law law;
  law.id = "sinusoidal_rows";
  law.title = "every element of a sinusoidal row is within the contract's bound of the exact value";
  law.blind_to = "padding, state between calls";
  law.operations = {Operation::encode};
  law.space = on<Sinusoidal>([](const Sinusoidal& scheme, std::int64_t context, std::uint64_t draw) {
    std::optional<CaseSpace> space = encode_space(scheme, context, draw);
    space->large = draw % 8 == 0;
    return space;
  });
  law.check = check;
  return law;
}

}  // namespace sextant
