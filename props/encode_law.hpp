// What the laws of `encode` share: drawn learned tables, calls between canaries, the exact entries of a row's
// pairs.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "sextant/fixtures/generators/case.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/props/law.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {

/// A table [rows, dim] of any bits, with a row more before and after it: what a kernel reads there in error
/// is no one else's.
class LearnedTable {
 public:
  LearnedTable(const Learned& scheme, std::uint64_t seed, DType dtype) : scheme_(scheme), dtype_(dtype) {
    const std::uint32_t mask = dtype == DType::f32 ? 0xffffffffU : 0xffffU;
    const auto size = static_cast<std::size_t>((scheme.rows + 2) * scheme.dim);
    values_.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto bits = static_cast<std::uint32_t>(scatter(seed + i) >> 20) & mask;
      values_.push_back(value_in(dtype, bits));
    }
  }

  [[nodiscard]] const Learned& scheme() const { return scheme_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  /// Rows -1 to `rows`.
  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    return values_[static_cast<std::size_t>((row + 1) * scheme_.dim + column)];
  }

 private:
  Learned scheme_;
  DType dtype_;
  std::vector<float> values_;
};

/// The table of a case, kept for the next call. Null where the scheme is not learned.
[[nodiscard]] const LearnedTable* table_of(const Case& c);

struct EncodeRequest {
  const Encoding& encoding;
  std::vector<std::int64_t> positions;
  DType dtype = DType::f32;
  const LearnedTable* table = nullptr;
  std::vector<std::int32_t> mask{};  ///< 0 for padded tokens; empty: not given
};
[[nodiscard]] inline EncodeRequest request_of(const Case& c) {
  return {*c.encoding, c.positions, c.dtype, table_of(c)};
}
/// Rows [tokens, dim] as the kernel gives them; positions are i32 where they fit and their number is odd.
/// Throws Misbehaved where the kernel wrote outside its output or changed an input.
[[nodiscard]] std::vector<float> encoded(const Kernel& kernel, const EncodeRequest& request);

[[nodiscard]] inline std::int64_t width_of(const Encoding& encoding) {
  if (const auto* learned = std::get_if<Learned>(&encoding)) return learned->dim;
  if (const auto* xl = std::get_if<TransformerXl>(&encoding)) return xl->dim;
  return std::get<Sinusoidal>(encoding).dim;
}

/// One pair of a row [dim] beside its exact values.
struct PairEntries {
  std::int64_t coordinate;
  float sin, cos;  ///< cos is 0 where the pair has none
  Wide exact_sin, exact_cos;
  PairBound at;
};
[[nodiscard]] PairEntries pair_entries(const Sinusoidal& scheme, ExactRows& rows, const Bounds& bounds,
                                       const float* row, std::int64_t position, std::int64_t pair);

/// Positions that have rows: a space for sinusoidal and learned, nothing for other schemes. Of a learned
/// table the rows and columns beyond some are left out, but for one draw in eight where it is small.
[[nodiscard]] std::optional<CaseSpace> encode_space(const std::optional<Encoding>& encoding,
                                                    std::int64_t context, std::uint64_t draw);

[[nodiscard]] inline bool same_bits_of(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Two results for the same positions: equal bits where that is promised (always of a learned table), else
/// within the sum of both bounds.
class SameRows {
 public:
  explicit SameRows(const Trial& trial);
  void judge(std::int64_t position, const float* got, const float* want);
  [[nodiscard]] Measure measure() && { return std::move(measure_); }

 private:
  const Trial& trial_;
  bool bitwise_;
  Measure measure_;
};

}  // namespace sextant
