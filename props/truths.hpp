// Truth once per case, then all kernels: exact rows and bounds, kept per encoding and current length.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "sextant/props/contract.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {

class Truths {
 public:
  /// Rows of A cos and A sin of the frequencies of `rope`; pairing, direction and head_dim do not matter.
  [[nodiscard]] ExactRows& rows(const Rope& rope, std::int64_t seq_len);
  [[nodiscard]] const Bounds& bounds(const Contract& contract, const Rope& rope, std::int64_t seq_len);
  /// The same of the pairs of a sinusoid's rows.
  [[nodiscard]] ExactRows& rows(const Sinusoidal& scheme);
  [[nodiscard]] const Bounds& bounds(const Contract& contract, const Sinusoidal& scheme);
  /// Rows computed so far, each the work of one position.
  void forget();

 private:
  std::map<std::string, ExactRows> rows_;
  std::map<std::string, Bounds> bounds_;
};

}  // namespace sextant
