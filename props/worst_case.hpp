// Worst-case search: the rotation error maximised over position, pair and input, shrunk to one scalar
// witness.
#pragma once
#include <cstdint>
#include <string>

#include "sextant/fixtures/generators/case.hpp"
#include "sextant/fixtures/kernel.hpp"
#include "sextant/reference/oracle/tally.hpp"

namespace sextant {

struct WorstCase {
  std::int64_t position = 0;
  std::int64_t pair = 0;
  float x_a = 0, x_b = 0;
  std::string function;  ///< a or b
  double got = 0, want = 0;
  double pair_ulp = 0;
  Case replay;  ///< the same as a case: one token, one head, input mode `pair`
};

/// `start` is the worst point of a certified sweep of the rotation; around it the inputs are searched:
/// `tries` random directions, then the bits of the best. The witness is shrunk: the fewest mantissa bits of
/// the inputs that keep at least 99 % of the error.
[[nodiscard]] WorstCase find_worst_case(const Kernel& kernel, const Rope& rope, std::int64_t seq_len,
                                        const TallyWitness& start, int tries);

}  // namespace sextant
