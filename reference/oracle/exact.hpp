// The oracle's own top rung, for audits: the truth to any precision, and oracles over frequencies given as
// such.
#pragma once
#include <cstdint>
#include <vector>

#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/oracle.hpp"

namespace sextant {

struct ExactPair {
  Mpfr cos, sin;
};

struct OracleAccess {
  /// Errs by less than the attention factor times 2^(3 - bits), for bits <= 240.
  [[nodiscard]] static ExactPair exact(const Oracle& oracle, std::int64_t position, std::int64_t pair,
                                       unsigned bits);

  /// Frequencies in radians per position, good to 320 bits; factor > 0.
  [[nodiscard]] static Oracle make(std::vector<Mpfr> inv_freq, const Mpfr& attention_factor,
                                   std::int64_t begin, std::int64_t end, OracleOptions options = {});
};

}  // namespace sextant
