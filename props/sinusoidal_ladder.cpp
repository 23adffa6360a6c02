// sinusoidal_ladder: along an axis w_{k+1}/w_k is one constant, base^(-1/(n-1)) or base^(-2/d) and so on by
// the layout, and the first frequency is the layout's (1: the first wavelength is 2 pi). Teeth: i/(n-1) for
// 2i/d and the reverse, another base, the ladder of half or twice the width, a factor on all positions. Blind
// to the lone sine of odd widths, and to positions that are wrong far out only.
//
// A frequency is read off the kernel's rows at the coordinate x = 2^j that is the largest with x w_k <= 1:
// the angle of its (cos, sin) there, over x. Slack. The kernel's angle at x is within d_x of x w_k (the
// contract's bound); the direction of entries that err by E in length is off by asin(E); atan2 in double and
// the products after it by less than 2^-49. So
//   |t/x - w_k| <= s_k = (d_x + asin(E) + 2^-49) / x,   |w~_{k+1} - r w~_k| <= s_{k+1} + r s_k + 2^-49
//   w_{k+1}.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/props/encode_law.hpp"
#include "sextant/reference/distance.hpp"

namespace sextant {
namespace {

constexpr double kArithmetic = 0x1p-49;

/// Where the coordinate on an axis is x, and is the least possible on the other; nothing where no position
/// is.
std::optional<std::int64_t> position_with(const Sinusoidal& scheme, int axis, std::int64_t x) {
  if (!has_two_axes(scheme.layout)) return x;
  const std::int64_t step = x - coordinate_of(scheme, axis, 0);
  if (step < 0 || (axis == 1 && step >= scheme.grid_columns)) return std::nullopt;
  const std::int64_t position = axis == 0 ? step * scheme.grid_columns : step;
  return positions_of(scheme).holds(position) ? std::optional(position) : std::nullopt;
}

struct Rung {
  std::int64_t pair, coordinate, position;
};

/// Of every complete pair whose angle can be read.
std::vector<Rung> rungs_of(const Sinusoidal& scheme, const ExactFrequencies& exact, std::int64_t farthest) {
  std::vector<Rung> rungs;
  for (std::int64_t k = 0; k < whole_pairs(scheme); ++k) {
    const double w = exact.inv_freq[static_cast<std::size_t>(k)].value();
    std::optional<Rung> best;
    for (std::int64_t x = 1; x <= farthest && (x == 1 || static_cast<double>(x) * w <= 1); x *= 2) {
      const auto position = position_with(scheme, axis_of(scheme, k), x);
      if (position && *position <= farthest) best = Rung{k, x, *position};
    }
    if (best && static_cast<double>(best->coordinate) * w < 3) rungs.push_back(*best);
  }
  return rungs;
}

Outcome check(const Trial& trial) {
  const auto& scheme = std::get<Sinusoidal>(*trial.c.encoding);
  ExactRows& truth = trial.truths.rows(scheme);
  const Bounds& bounds = trial.truths.bounds(trial.contract, scheme);
  const std::int64_t farthest = std::min(trial.kernel.capabilities.max_position, (std::int64_t{1} << 31) - 1);
  const std::vector<Rung> rungs = rungs_of(scheme, truth.frequencies(), farthest);
  if (rungs.empty()) return unsupported("no angle of this encoding can be read off its rows");
  EncodeRequest request = request_of(trial.c);
  std::vector<std::int64_t>& positions = request.positions;  // each once: rungs share rows
  positions.clear();
  for (const Rung& rung : rungs) positions.push_back(rung.position);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  const std::vector<float> rows = encoded(trial.kernel, request);
  const auto row_of = [&](std::int64_t position) {
    const auto row = std::lower_bound(positions.begin(), positions.end(), position) - positions.begin();
    return rows.data() + row * scheme.dim;
  };

  Measure measure;
  measure.unit = "ulp";
  struct Seen {
    std::int64_t pair = -1;
    double w = 0, slack = 0;
  } before;
  const auto exact = [&](std::int64_t pair) {
    return truth.frequencies().inv_freq[static_cast<std::size_t>(pair)].value();
  };
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const std::int64_t k = rungs[i].pair;
    const PairEntries pair =
        pair_entries(scheme, truth, bounds, row_of(rungs[i].position), rungs[i].position, k);
    const double error = bounds.entries_error(pair.at);
    const auto x = static_cast<double>(pair.coordinate);
    // Where the angle may pass half a turn, or the entries' error hides it, nothing is read.
    if (!(pair.at.angle + std::asin(std::min(error, 1.0)) < kNoClaim)) {
      measure.skip();
      before = {};
      continue;
    }
    const Seen seen{k, std::atan2(double{pair.sin}, double{pair.cos}) / x,
                    (pair.at.angle + std::asin(error) + kArithmetic) / x};
    const auto judge = [&](double want, double slack, const char* function) {
      const double ulp = ulp_of(exact(k), kFloat32);
      measure.take(std::isfinite(seen.w) ? std::fabs(seen.w - want) / ulp : INFINITY,
                   (slack + kArithmetic * exact(k)) * (1 + 0x1p-40) / ulp,
                   {rungs[i].position, k, function, seen.w, want});
    };
    const bool next =
        before.pair >= 0 && before.pair + 1 == k && axis_of(scheme, before.pair) == axis_of(scheme, k);
    const double ratio = next ? exact(k) / exact(before.pair) : 0;
    if (next) judge(ratio * before.w, seen.slack + ratio * before.slack, "w_k from the one before");
    if (!next || k % pairs_per_axis(scheme) == 0) judge(exact(k), seen.slack, "w_k");
    before = seen;
  }
  return judged(std::move(measure));
}

}  // namespace

Law sinusoidal_ladder() {
  Law law;
  law.id = "sinusoidal_ladder";
  law.title = "frequencies along an axis fall by one constant ratio, from the layout's first one";
  law.blind_to = "the lone sine of odd widths, positions wrong far out only, padding";
  law.operations = {Operation::encode};
  law.space = on<Sinusoidal>(
      [](const Sinusoidal& scheme, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (whole_pairs(scheme) == 0) return std::nullopt;
        std::optional<CaseSpace> space = encode_space(scheme, context, draw);
        space->consecutive = true;  // the law has positions of its own
        space->max_tokens = 1;
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
