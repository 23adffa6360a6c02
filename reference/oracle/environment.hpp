// What every proof of the oracle rests on, checked in the running process: the floating-point environment.
#pragma once
#include <cfenv>

namespace sextant {

/// Throws std::runtime_error unless this thread rounds to nearest, keeps subnormals (neither FTZ nor DAZ),
/// and multiplies and adds without contraction or reassociation.
void check_floating_point();

/// What decides how this thread rounds: rounding mode, flush-to-zero, subnormals read as zero; no exception
/// flags. Two values differ where one of these does.
class FloatingPointMode {
 public:
  FloatingPointMode();
  bool operator==(const FloatingPointMode& other) const { return control_ == other.control_; }
  /// Makes it this thread's again.
  void restore() const;

 private:
  std::fenv_t environment_;
  unsigned control_;
};

}  // namespace sextant
