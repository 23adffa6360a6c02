// Exact rows of cos and sin as double-doubles that laws can compute with.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sextant/reference/encoding.hpp"
#include "sextant/reference/wide.hpp"

namespace sextant {

/// The exact frequencies of an encoding, as double-doubles: relative error < 2^-105, 0 exactly where they are
/// 0.
struct ExactFrequencies {
  std::vector<Wide> inv_freq;
  Wide attention_factor;
};
[[nodiscard]] ExactFrequencies exact_frequencies(const Rope& rope, std::int64_t seq_len);
[[nodiscard]] ExactFrequencies exact_frequencies(const Sinusoidal& scheme);

/// The truth of one position: A cos(m w_k) and A sin(m w_k), for a sinusoid with m the coordinate of its
/// pair.
struct ExactRow {
  std::vector<Wide> cos, sin;
};

/// Rows of the truth of one encoding at one current length; rows once computed are kept.
/// Every entry is within kRowError * A of the exact value, for |position| <= 2^40.
class ExactRows {
 public:
  static constexpr double kRowError = 0x1p-104;

  ExactRows(const Rope& rope, std::int64_t seq_len);
  explicit ExactRows(const Sinusoidal& scheme);
  ~ExactRows();
  ExactRows(ExactRows&&) noexcept;
  ExactRows& operator=(ExactRows&&) noexcept;

  [[nodiscard]] const ExactFrequencies& frequencies() const;
  [[nodiscard]] const ExactRow& at(std::int64_t position);
  /// The same without keeping it, for long scans.
  [[nodiscard]] ExactRow take(std::int64_t position) const;
  /// One pair at a coordinate of its axis.
  struct Entry {
    Wide cos, sin;
  };
  [[nodiscard]] Entry entry(std::int64_t coordinate, std::size_t pair) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant
