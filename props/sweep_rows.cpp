// Sweeping rows of sines and cosines: runs of pairs that lie evenly in the columns, each against an oracle of
// its frequencies.
//
// In one dimension a coordinate is a position, and blocks are judged as those of tables. In a grid each
// position has two coordinates, and is judged by itself.
#include <cmath>
#include <list>
#include <numeric>

#include "sextant/props/sweep_judge.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

/// Pairs of one axis, from `first` on, all with a cosine or none.
struct Run {
  Run(const SweepSubject& subject, std::int64_t first_pair, std::int64_t count, std::int64_t begin,
      std::int64_t end)
      : axis(axis_of(*subject.sinusoid, first_pair)),
        columns(sinusoid_columns(*subject.sinusoid, first_pair)),
        step(count > 1 ? sinusoid_columns(*subject.sinusoid, first_pair + 1).sine - columns.sine : 1),
        oracle(make_oracle(*subject.sinusoid, first_pair, count, begin, end)),
        judge{oracle, {}, {}, first_pair} {
    const std::vector<Wide> all = exact_frequencies(*subject.sinusoid).inv_freq;
    for (std::int64_t k = 0; k < count; ++k)
      judge.inv_freq.push_back(all[static_cast<std::size_t>(first_pair + k)].value());
    if (subject.contract) judge.bounds.emplace(*subject.contract, *subject.sinusoid);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  static Oracle make_oracle(const Sinusoidal& scheme, std::int64_t first, std::int64_t count,
                            std::int64_t begin, std::int64_t end) {
    const WorkingDigits scope(oracle::kSeedDigits);
    const std::vector<Mpfr> all = sextant::inv_freq<Mpfr>(scheme);
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
    return OracleAccess::make({from, from + static_cast<std::ptrdiff_t>(count)}, Mpfr(1), begin, end);
  }

  int axis;
  SinusoidColumns columns;
  std::int64_t step;
  Oracle oracle;
  TableJudge judge;
};

/// A tally of coordinates and of a run's pairs as one of positions and of the row's pairs.
SweepTally moved(SweepTally tally, std::int64_t first_pair, std::optional<std::int64_t> position) {
  const auto move = [&](auto& place) {
    if (!place) return;
    place->pair += first_pair;
    if (position) place->position = *position;
  };
  move(tally.tally.worst);
  move(tally.tally.first_nan);
  move(tally.position_error_at);
  move(tally.first_no_claim);
  move(tally.first_broken);
  if (position) {
    const Errors all = tally.tally.all;
    tally.tally.octaves = {};
    tally.tally.octaves[static_cast<std::size_t>(octave_of(*position))] = all;
  }
  return tally;
}

}  // namespace

SweepTally sweep_rows(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads,
                      const std::function<void(std::int64_t)>& progress) {
  const Sinusoidal& scheme = *subject.sinusoid;
  const Encoding encoding = scheme;
  const bool grid = has_two_axes(scheme.layout);
  const std::int64_t block_rows = std::max<std::int64_t>(1, 2 * kBlockValues / scheme.dim);
  SweepTally total;
  for (std::int64_t span = begin; span < end; span += kSpanPositions) {
    const std::int64_t span_end = std::min(end, span + kSpanPositions);
    std::list<Run> runs;
    const auto add = [&](std::int64_t first_pair, std::int64_t count) {
      if (count > 0) runs.emplace_back(subject, first_pair, count, grid ? 0 : span, grid ? 0 : span_end);
    };
    const std::int64_t axis_pairs = std::min(pairs_per_axis(scheme), whole_pairs(scheme));
    add(0, axis_pairs);
    add(axis_pairs, whole_pairs(scheme) - axis_pairs);
    add(whole_pairs(scheme), sinusoid_pairs(scheme) - whole_pairs(scheme));

    const auto judge = [&](const Run& run, const float* rows, std::int64_t first, std::int64_t count,
                           SweepBuffers& buffers) {
      const GivenTable sin{rows + run.columns.sine, scheme.dim, run.step};
      const GivenTable cos{run.columns.cosine < 0 ? nullptr : rows + run.columns.cosine, scheme.dim,
                           run.step};
      SweepTally tally;
      judge_table(run.judge, {cos, sin, &kFloat32}, coordinate_of(scheme, run.axis, first), count, buffers,
                  tally);
      return moved(std::move(tally), run.judge.first_pair, grid ? std::optional(first) : std::nullopt);
    };
    const auto visit = [&](std::int64_t first, std::int64_t count, SweepBuffers& buffers, SweepTally& tally) {
      buffers.positions.resize(static_cast<std::size_t>(count));
      std::iota(buffers.positions.begin(), buffers.positions.end(), first);
      buffers.x.assign(static_cast<std::size_t>(count * scheme.dim), NAN);
      subject.kernel->encode({encoding,
                              dense(buffers.positions.data(), DType::i64, count),
                              {},
                              {},
                              dense(buffers.x.data(), DType::f32, count, scheme.dim)});
      for (const Run& run : runs) {
        if (!grid) {
          tally += judge(run, buffers.x.data(), first, count, buffers);
          continue;
        }
        for (std::int64_t r = 0; r < count; ++r)
          tally += judge(run, buffers.x.data() + r * scheme.dim, first + r, 1, buffers);
      }
    };
    const bool alone = !subject.kernel->capabilities.concurrent;
    total += over_blocks(span, span_end, block_rows, alone ? 1 : threads, visit, [&](std::int64_t done) {
      if (progress) progress(span - begin + done);
    });
  }
  return total;
}

}  // namespace sextant
