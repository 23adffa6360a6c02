// Powers of every pair's phasor, in 192-bit integers and as double-double tables, laid out in blocks for the
// lanes.
#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "sextant/reference/oracle/fixed.hpp"
#include "sextant/reference/oracle/lanes.hpp"

namespace sextant::oracle {

/// Doubles at a cache line's start.
class AlignedDoubles {
 public:
  explicit AlignedDoubles(std::size_t count)
      : data_(static_cast<double*>(::operator new(count * sizeof(double), kLine))) {}
  [[nodiscard]] double* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(double* data) const { ::operator delete(data, kLine); }
  };
  std::unique_ptr<double, Free> data_;
};

/// |position| = b + 64 (j + 64 i): `fine` holds z^b, `mid` z^(64 j), and z^(4096 i) is a product of digits of
/// i. The split is absolute, so a value does not depend on where a sweep begins.
class Tables {
 public:
  static constexpr std::uint64_t kFineRows = 64;
  static constexpr std::uint64_t kMidRows = 64;
  static constexpr std::uint64_t kSection = kFineRows * kMidRows;
  static constexpr std::size_t kMaxWidth = 64;

  /// Pairs with `still` set do not move: lanes compute an idle 0.75 there, which every rounding keeps.
  /// `factor` is the attention factor over `scale`, a power of two not below it. Serves positions below
  /// `limit`.
  Tables(std::vector<Phasor> units, std::vector<bool> still, const Fixed& factor, double scale,
         std::uint64_t limit);

  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] std::size_t width() const { return width_; }  ///< lanes of a block, a multiple of 8
  [[nodiscard]] std::size_t pairs() const { return units_.size(); }
  [[nodiscard]] bool still(std::size_t pair) const { return pair >= units_.size() || still_[pair]; }
  [[nodiscard]] bool idle(std::size_t block) const { return idle_[block]; }  ///< no pair of the block moves
  [[nodiscard]] bool full(std::size_t block) const {
    return full_[block];
  }  ///< every lane of the block moves

  /// z^position times the factor, over scale: the integers err by less than position 2^-186.
  [[nodiscard]] Phasor power(std::size_t pair, std::uint64_t position) const;

  /// Row i of the sections' factors, A z^(4096 i), all blocks: 4 * width() * blocks() doubles,
  /// per block cos, sin and their low words.
  void section(std::uint64_t i, double* out) const;
  [[nodiscard]] WideRow section_row(const double* section, std::size_t block) const {
    const double* row = section + 4 * width_ * block;
    return {row, row + 2 * width_, width_};
  }
  [[nodiscard]] WideRow fine_row(std::size_t block, std::uint64_t b) const {
    return fine_.row(block, b, width_);
  }
  [[nodiscard]] WideRow mid_row(std::size_t block, std::uint64_t j) const {
    return mid_.row(block, j, width_);
  }
  [[nodiscard]] std::size_t row_step() const { return 2 * width_; }

 private:
  using Powers = std::vector<Phasor>;  // [row][pair]
  static constexpr unsigned kDigitBits = 8;

  // High and low words apart, so that rung 1 streams through the high ones alone.
  struct Table {
    AlignedDoubles high, low;
    std::uint64_t rows;
    [[nodiscard]] WideRow row(std::size_t block, std::uint64_t r, std::size_t width) const {
      const std::size_t offset = (block * rows + r) * 2 * width;
      return {high.data() + offset, low.data() + offset, width};
    }
  };
  [[nodiscard]] Powers powers(std::span<const Phasor> units, std::uint64_t rows) const;
  [[nodiscard]] Phasor high_power(std::size_t pair, std::uint64_t section) const;
  [[nodiscard]] Table make_table(std::uint64_t rows) const;
  void lay(const Powers& powers, double idle, Table& table) const;
  void put(const Phasor& value, double scale, double* high, double* low) const;

  std::vector<Phasor> units_;
  std::vector<bool> still_;
  Fixed factor_;
  double scale_;
  std::uint64_t limit_;
  std::size_t blocks_, width_;
  std::vector<bool> idle_, full_;
  Powers fine_powers_, mid_powers_;
  std::vector<Powers> digits_;
  Table fine_, mid_;
};

}  // namespace sextant::oracle
