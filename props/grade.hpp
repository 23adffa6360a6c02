// The grade of a kernel: the contracts it keeps and up to which position, and its error by stage.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/fixtures/kernel.hpp"
#include "sextant/props/sweep.hpp"

namespace sextant {

/// A contract kept by every table entry of [begin, up_to_position]; nothing: broken at the first position
/// already.
struct ContractGrade {
  std::string name;
  std::optional<std::int64_t> up_to_position;
  std::optional<Place> broken_at;
  std::optional<Place> no_claim_at;  ///< where it first says nothing: it is kept before that at most
  std::int64_t no_claim = 0;
};

/// The signed error that one stage adds at a named point: truths that differ in that stage alone, exchanged
/// one after the other. frequency: stored frequencies and factor for exact ones; angle: stored angles for
/// position times stored frequency; trig: the table entry for the exact cos or sin of the stored angle;
/// arithmetic: the rotated output for the exact rotation by the table. Where a kernel does not expose a
/// stage, it is merged with the next ("frequency+angle+trig").
///
/// All truths are rounded to a grid of 2^-50 (1.5e-8 u), on which sums of doubles are exact: the shares of a
/// point add up to its total in double arithmetic, to the bit.
struct StageShare {
  std::string stage;
  std::int64_t position = 0;
  std::int64_t pair = 0;
  std::string function;  ///< cos, sin; a, b of a rotation
  double signed_share = 0;
};

struct Grade {
  std::vector<ContractGrade> contracts;  ///< those that speak of tables, strictest first
  std::vector<StageShare>
      stages;  ///< at the worst point of each sampled position; per point in order of stages
  std::vector<StageShare> totals;  ///< stage "total": got - exact at those points
  std::vector<StageShare> maxima;  ///< largest |share| of each stage over everything sampled
};

/// Contracts over every position of [begin, end); stages at position begin, the last of every octave, and end
/// - 1.
[[nodiscard]] Grade grade(const Kernel& kernel, const Rope& rope, std::int64_t seq_len, Truth truth,
                          std::int64_t begin, std::int64_t end, int threads,
                          const std::function<void(std::int64_t)>& progress);

}  // namespace sextant
