// The decision on one value: what a certified enclosure of the truth says about the value that a kernel gave.
#pragma once
#include <optional>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/wide.hpp"

namespace sextant::oracle {

/// A non-negative number known as value +- bound.
struct Enclosure {
  Wide value;
  double bound = 0;
};

/// The spacing of `format` at a truth within `bound` of `value`; nothing where two binades remain possible.
[[nodiscard]] std::optional<double> certain_spacing(const Wide& value, double bound, const Format& format);

/// |got - truth| for finite `got` and a truth within `bound` of `value`.
[[nodiscard]] Enclosure distance(double got, const Wide& value, double bound);

struct Judgement {
  double ulp;  ///< rounded as tally.hpp says
  bool correctly_rounded;
};

/// The judgement on which the whole enclosure agrees, or nothing. `spacing` is a power of two.
[[nodiscard]] std::optional<Judgement> judge(const Enclosure& distance, double spacing);

/// The double nearest to every number of the enclosure, or nothing.
[[nodiscard]] std::optional<double> certain_double(const Enclosure& enclosure);

/// The value of `format` nearest to every real within `bound` of `value` (ties to even), or nothing.
[[nodiscard]] std::optional<double> certain_rounding(const Wide& value, double bound, const Format& format);

}  // namespace sextant::oracle
