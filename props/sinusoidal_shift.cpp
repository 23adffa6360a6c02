// sinusoidal_shift: over complete pairs PE(p+D) = Rot(D) PE(p) with Rot(D) independent of p, so that
// <PE(p),PE(p+D)> = sum cos(D w_k), and each pair has norm 1. In a grid D is a vector, a shift on each axis.
// Teeth: sines and cosines exchanged or halves swapped (the rotation turns the other way), positions that are
// clamped, wrapped or rounded, angles that are not linear in the position, another base. Blind to positions
// that are all shifted alike, and to the lone sine of odd widths.
//
// Slack. Let w~ be the kernel's frequency, e bounds |w~ - w|, rho_x the rounding of the angle at coordinate
// x, E_x the error of a pair's entries apart from its angle. The kernel's angles at x and x+D differ by D w +
// D (w~ - w) + roundings: by D w within delta = |D| e + rho_x + rho_{x+D}. So, as vectors,
//   |PE~(x+D) - Rot(D) PE~(x)| <= delta + E_x + E_{x+D}, a chord being at most its angle;
//   | |PE~(x)|^2 - 1 | <= 2 E_x + E_x^2, where the angle drops out;
//   |<PE~(x),PE~(x+D)> - cos(D w)| <= |sin(D w)| delta + delta^2/2 + E_x + E_{x+D} + E_x E_{x+D},
// and the inner product over all pairs within the sum of these. Products of outputs are formed exactly, their
// sums in double-double, inside the bounds' inflation.
#include <cmath>

#include "sextant/props/encode_law.hpp"

namespace sextant {
namespace {

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& scheme = std::get<Sinusoidal>(*c.encoding);
  ExactRows& truth = trial.truths.rows(scheme);
  const Bounds& bounds = trial.truths.bounds(trial.contract, scheme);
  EncodeRequest request = request_of(c);
  const std::vector<float> rows = encoded(trial.kernel, request);
  for (std::int64_t& position : request.positions) position += c.shift;
  const std::vector<float> shifted = encoded(trial.kernel, request);

  Measure measure;
  measure.unit = "abs";
  for (std::size_t s = 0; s < c.positions.size(); ++s) {
    const std::int64_t position = c.positions[s];
    const std::size_t first = s * static_cast<std::size_t>(scheme.dim);
    const auto judge = [&](const Wide& error, double bound, double size, std::int64_t pair,
                           const char* function, const Wide& got, const Wide& want) {
      if (!(bound < kNoClaim * size)) return measure.skip();
      const double distance = std::fabs(error.value());
      measure.take(std::isfinite(distance) ? distance : INFINITY, bound * (1 + 0x1p-40),
                   {position, pair, function, got.value(), want.value()});
    };
    Wide product, cosines;
    double slack = 0;
    for (std::int64_t k = 0; k < whole_pairs(scheme); ++k) {
      const PairEntries here = pair_entries(scheme, truth, bounds, rows.data() + first, position, k);
      const PairEntries there =
          pair_entries(scheme, truth, bounds, shifted.data() + first, position + c.shift, k);
      const std::int64_t distance = there.coordinate - here.coordinate;
      const ExactRows::Entry turn = truth.entry(distance, static_cast<std::size_t>(k));
      const double delta = std::fabs(static_cast<double>(distance)) * bounds.frequency(k) +
                           here.at.angle_round + there.at.angle_round;
      const double e_here = bounds.entries_error(here.at), e_there = bounds.entries_error(there.at);

      const Wide sin = Wide(here.sin) * turn.cos + Wide(here.cos) * turn.sin;
      const Wide cos = Wide(here.cos) * turn.cos - Wide(here.sin) * turn.sin;
      const Wide off_sin = Wide(there.sin) - sin, off_cos = Wide(there.cos) - cos;
      judge(std::hypot(off_sin.value(), off_cos.value()), delta + e_here + e_there, 1, k, "shifted pair",
            there.sin, sin);
      const Wide norm = two_product(here.sin, here.sin) + two_product(here.cos, here.cos);
      judge(norm - Wide(1), 2 * e_here + e_here * e_here, 1, k, "squared norm", norm, Wide(1));

      product = product + two_product(here.sin, there.sin) + two_product(here.cos, there.cos);
      cosines = cosines + turn.cos;
      slack += std::fabs(turn.sin.value()) * delta + delta * delta / 2 + e_here + e_there + e_here * e_there;
    }
    judge(product - cosines, slack, static_cast<double>(whole_pairs(scheme)), 0, "inner product", product,
          cosines);
  }
  return judged(std::move(measure));
}

}  // namespace

Law sinusoidal_shift() {
  Law law;
  law.id = "sinusoidal_shift";
  law.title = "PE(p+D) = Rot(D) PE(p) over complete pairs, Rot independent of p; squared norm 1 of each pair";
  law.blind_to = "equal shifts of all positions, the lone sine of odd widths, padding";
  law.operations = {Operation::encode};
  law.space = on<Sinusoidal>(
      [](const Sinusoidal& scheme, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (whole_pairs(scheme) == 0) return std::nullopt;
        std::optional<CaseSpace> space = encode_space(scheme, context, draw);
        if (space->max_position == 0) return std::nullopt;  // a grid of one place
        space->max_tokens = 6;
        space->max_shift = std::min(std::max<std::int64_t>(context, 2), space->max_position);
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
