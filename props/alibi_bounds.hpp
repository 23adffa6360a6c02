// The exact bias of ALiBi, and the bound on a kernel's that follows from its contract.
#pragma once
#include <cstdint>
#include <vector>

#include "sextant/props/contract.hpp"
#include "sextant/reference/wide.hpp"

namespace sextant {

class AlibiBounds {
 public:
  AlibiBounds(const Contract& contract, const Alibi& alibi);

  /// The format that biases are rounded to.
  [[nodiscard]] const Format& output() const { return *output_; }
  /// Of a head and a pair's multiplier (reference/alibi.hpp), within 2^-100.
  [[nodiscard]] Wide bias(std::int64_t head, std::int64_t multiplier) const;
  /// Bound on |kernel's bias - bias| before the rounding to the output and after it; infinite where an
  /// intermediate result may overflow.
  [[nodiscard]] double before_output(std::int64_t head, std::int64_t multiplier, const Wide& bias) const;
  [[nodiscard]] double after_output(double before, const Wide& bias) const;
  [[nodiscard]] double operator()(std::int64_t head, std::int64_t multiplier, const Wide& bias) const {
    return after_output(before_output(head, multiplier, bias), bias);
  }
  /// The bound on a slope as the recipe stores it.
  [[nodiscard]] double slope_error(std::int64_t head) const {
    return slope_error_[static_cast<std::size_t>(head)];
  }

 private:
  Contract contract_;
  Alibi alibi_;
  const Format *arithmetic_, *output_;
  std::vector<Wide> slope_;
  std::vector<double> slope_error_;
  Wide inverse_root_ = 1;  ///< 1/sqrt(head_dim) of falcon
};

}  // namespace sextant
