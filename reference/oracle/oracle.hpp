// The certified oracle: the truth A cos(m w), A sin(m w) of an encoding at tensor speed, with proved bounds.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/oracle/tally.hpp"
#include "sextant/reference/wide.hpp"

namespace sextant {

/// Elements of one function of a table: row r, pair k at data[r * row_step + k * pair_step]; steps in
/// elements, any sign. float32 as float, float16 and bfloat16 as their 16 bits.
template <class Data>
struct TableView {
  Data* data = nullptr;
  std::int64_t row_step = 0;
  std::int64_t pair_step = 1;
};
using GivenTable = TableView<const void>;
using WrittenTable = TableView<void>;

struct OracleOptions {
  std::string_view target{};  ///< of Oracle::targets(); empty for the best
  double table_bound = 0;     ///< raises the bound of rung 1 (never lowers it): values go up the ladder
  double wide_bound = 0;      ///< raises the bounds of rung 2
  int precision_limit = 240;  ///< bits of rung 3, at most 240, after which a value is undecided
};

/// The ladder, from the cheapest rung that is sure: 0 exact (m w = 0 gives A and 0, before any arithmetic);
/// 1 one product of double tables, or the integer phase for few or huge positions; 2 the same in
/// double-double and in 192-bit integers; 3 arbitrary precision, up to a limit. Every answer is that of the
/// exact truth, whichever rung gave it, so all targets, threads and shards agree to the byte.
///
/// Immutable, and so shareable between threads. |position| <= 2^40; cos is even and sin odd in it, exactly.
class Oracle {
 public:
  /// Tables serve the positions of [begin, end) in bulk; all others go by the integer phase.
  Oracle(const Rope& rope, std::int64_t seq_len, std::int64_t begin, std::int64_t end,
         OracleOptions options = {});

  /// Whether it serves these frequencies: each below 2^32 rad per position.
  [[nodiscard]] static bool serves(const std::vector<Wide>& inv_freq);

  /// The truth of "stored frequencies": those float32 values and that factor, taken exactly.
  [[nodiscard]] static Oracle from_stored(std::span<const float> inv_freq, double attention_factor,
                                          std::int64_t begin, std::int64_t end, OracleOptions options = {});

  ~Oracle();
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;

  /// SIMD targets of this machine, best first.
  [[nodiscard]] static std::vector<std::string_view> targets();

  [[nodiscard]] std::int64_t pairs() const;
  [[nodiscard]] double attention_factor() const;  ///< nearest double

  /// |value - truth| of every double from row() and rows(), absolute.
  [[nodiscard]] double bound() const;
  /// |value - truth| of wide(), absolute.
  [[nodiscard]] double wide_bound() const;
  /// |value - truth| / norm(input pair) of rotate().
  [[nodiscard]] double rotation_bound() const;

  /// [pairs] each, by the integer phase.
  void row(std::int64_t position, double* cos, double* sin) const;
  /// [count, pairs] each, by tables where they are laid.
  void rows(std::int64_t first_position, std::int64_t count, double* cos, double* sin) const;

  struct WidePair {
    Wide cos, sin;
  };
  [[nodiscard]] WidePair wide(std::int64_t position, std::int64_t pair) const;

  /// a' = a c - b s, b' = b c + a s in double, for all pairs of one position; sine negated for direction -1.
  void rotate(std::int64_t position, int direction, const float* a, const float* b, double* a_out,
              double* b_out) const;

  /// Writes the values of `format` (kFloat32, kFloat16, kBFloat16) nearest to the truth. Returns how many
  /// stayed undecided; those are the nearest to the best enclosure's middle.
  std::uint64_t produce(std::int64_t first_position, std::int64_t count, const Format& format,
                        WrittenTable cos, WrittenTable sin) const;

  /// Judges every given value against the truth; a function without data is not judged.
  [[nodiscard]] Tally check(std::int64_t first_position, std::int64_t count, const Format& format,
                            GivenTable cos, GivenTable sin) const;

 private:
  struct State;
  friend struct OracleAccess;
  explicit Oracle(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace sextant
