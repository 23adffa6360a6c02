// What sweeps share: blocks of entries judged against an oracle, the work of several threads.
#pragma once
#include <optional>
#include <vector>

#include "sextant/props/contract.hpp"
#include "sextant/props/sweep.hpp"
#include "sextant/reference/oracle/oracle.hpp"

namespace sextant {

/// Buffers of one thread.
struct SweepBuffers {
  std::vector<std::int64_t> positions;
  std::vector<float> cos, sin, x, y;
  std::vector<double> exact_cos, exact_sin;
};

/// One block of a table as the oracle reads it; cos is without data where there are sines alone.
struct SweepBlock {
  GivenTable cos, sin;
  const Format* format;
};

/// Everything that a block of entries needs and that does not change within a span.
struct TableJudge {
  const Oracle& oracle;
  std::vector<double> inv_freq;
  std::optional<Bounds> bounds;
  std::int64_t first_pair = 0;  ///< the oracle's first, among those of the bounds
};

/// Judges positions (coordinates, for a sinusoid) first .. first + rows - 1.
void judge_table(const TableJudge& judge, const SweepBlock& block, std::int64_t first, std::int64_t rows,
                 SweepBuffers& buffers, SweepTally& tally);

/// visit(first, rows, buffers, tally) for blocks of [begin, end), by several threads, which share nothing but
/// what visit sees. progress(done) is called from this thread. The first exception of a thread is thrown.
using VisitBlock =
    std::function<void(std::int64_t first, std::int64_t rows, SweepBuffers& buffers, SweepTally& tally)>;
[[nodiscard]] SweepTally over_blocks(std::int64_t begin, std::int64_t end, std::int64_t rows, int threads,
                                     const VisitBlock& visit,
                                     const std::function<void(std::int64_t)>& progress);

/// The sweep of a kernel's sinusoidal rows.
[[nodiscard]] SweepTally sweep_rows(const SweepSubject& subject, std::int64_t begin, std::int64_t end,
                                    int threads, const std::function<void(std::int64_t)>& progress);

/// The sweep of a kernel's biases or buckets.
[[nodiscard]] SweepTally sweep_distances(const SweepSubject& subject, std::int64_t begin, std::int64_t end,
                                         int threads, const std::function<void(std::int64_t)>& progress);

/// Positions from one laying of the oracle's tables to the next, and values of a block.
inline constexpr std::int64_t kSpanPositions = std::int64_t{1} << 22;
inline constexpr std::int64_t kBlockValues = std::int64_t{1} << 16;  // of one function: 256 KiB of float32

}  // namespace sextant
