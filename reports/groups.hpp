// A run seen by kernel, by law and by failure: what summaries show.
#pragma once
#include <string>
#include <vector>

#include "sextant/reports/run.hpp"

namespace sextant {

/// The verdicts that are worse than pass: the worst of each kernel, law and operation first, then the rest,
/// both by verdict and by how far they exceed their bounds.
[[nodiscard]] std::vector<const VerdictRecord*> failures_of(const Run& run);

struct KernelSummary {
  std::string name;
  std::size_t passed = 0;
  std::size_t judged = 0;                ///< without unsupported and unavailable ones
  std::size_t neutral = 0;               ///< these
  const VerdictRecord* worst = nullptr;  ///< with the largest error / bound
  const VerdictRecord* idle = nullptr;   ///< the first neutral one: why nothing was judged
  const DriftRecord* drift = nullptr;    ///< with the largest |error|
  double drift_error = 0;
  std::size_t encodings = 0, kept = 0;  ///< with drift measured; that keep exact-angle
};
/// Failing kernels first, then by name.
[[nodiscard]] std::vector<KernelSummary> kernels_of(const Run& run);

/// Verdicts of one kernel, law, operation and dtype.
struct LawSummary {
  std::string kernel, law;
  Operation operation;
  DType dtype;
  Verdict verdict = Verdict::unsupported;  ///< the worst present
  std::size_t passed = 0, count = 0;
  const VerdictRecord* worst = nullptr;  ///< of passing ones the largest error / bound; of others the first
};
[[nodiscard]] std::vector<LawSummary> laws_of(const Run& run);

}  // namespace sextant
