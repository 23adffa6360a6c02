// The oracle against arbitrary precision on points that the positions themselves choose: a part of every run.
#pragma once
#include <cstdint>

#include "sextant/reference/oracle/oracle.hpp"

namespace sextant {

/// Points compared, and the largest |difference| / proved bound of the doubles and of the double-doubles:
/// above 1, the oracle is not to be trusted.
struct Audit {
  std::uint64_t points = 0;
  double worst_share = 0;

  Audit& operator+=(const Audit& other);
  [[nodiscard]] bool kept() const { return worst_share <= 1; }
};

/// Audits positions [begin, end): each power of two and about one position in 512, one pair each, chosen by
/// hash, so that shards audit together just what one run does. Truth comes from the definition by MPFR at 360
/// bits, not from the oracle's seeds.
[[nodiscard]] Audit audit(const Oracle& oracle, const Rope& rope, std::int64_t seq_len, std::int64_t begin,
                          std::int64_t end);
/// The same of a sinusoid's pairs, each at its coordinate of the position.
[[nodiscard]] Audit audit(const Sinusoidal& scheme, std::int64_t begin, std::int64_t end);

}  // namespace sextant
