// What a law says of a kernel, and the measure that goes with it: monoids that merge in any order.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant {

/// Only pass passes. Verdicts over cases merge to the first of this order that is present.
enum class Verdict { fail, crashed, mistrusted, undecided, pass, unavailable, unsupported };
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Witness {
  std::int64_t position = 0;
  std::int64_t pair = 0;
  std::string function;  ///< cos, sin, a, b, score, out, inv_freq, attention_factor
  double got = 0;
  double want = 0;
};

/// Errors against bounds, in one unit: the element with the largest error / bound is kept, ties to the lowest
/// position, then pair, then function.
struct Measure {
  std::string unit;  ///< pair_ulp, ulp, abs or count
  double worst = 0;
  double bound = 0;
  std::optional<Witness> witness;
  std::int64_t elements = 0;
  std::int64_t no_claim = 0;

  /// Largest error / bound seen; above 1 the law is broken.
  [[nodiscard]] double share() const;
  void take(double error, double limit, const Witness& where);
  void skip() { ++no_claim; }
  Measure& operator+=(const Measure& other);
};

/// The outcome of one case.
struct Outcome {
  Verdict verdict = Verdict::pass;
  Measure measure;
  std::string reason;      ///< why not, for anything but pass and fail
  bool timed_out = false;  ///< trying this case again costs the time limit again
};

/// fail where a bound was exceeded, else pass; with nothing but "no claim" elements, mistrusted.
[[nodiscard]] Outcome judged(Measure measure);
[[nodiscard]] Outcome unsupported(std::string reason);

}  // namespace sextant
