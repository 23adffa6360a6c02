// Buffers that notice a kernel which writes where it must not: canaries around them, copies of inputs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "sextant/fixtures/element.hpp"
#include "sextant/fixtures/kernel.hpp"

namespace sextant {

/// What outputs hold before a call, and what lies around tensors: a NaN in every format of 16 and 32 bits.
inline constexpr std::uint16_t kPoison = 0x7fc1;

/// Values of f32, f16 or bf16 between two margins of canaries, at a 64-byte boundary.
class Guarded {
 public:
  /// An output: full of NaN.
  explicit Guarded(std::size_t size, DType dtype = DType::f32)
      : dtype_(dtype), size_(size), store_((size * size_of(dtype) + 2 * kMargin + kAlignment) / 2, kPoison) {
    const auto address = reinterpret_cast<std::uintptr_t>(store_.data()) + kMargin;
    begin_ = (kMargin + (kAlignment - address % kAlignment) % kAlignment) / 2;
  }
  /// An input: values that the dtype holds.
  explicit Guarded(const std::vector<float>& content, DType dtype = DType::f32)
      : Guarded(content.size(), dtype) {
    if (dtype_ == DType::f32) {
      if (size_ > 0) std::memcpy(at(0), content.data(), size_ * sizeof(float));
    } else {
      for (std::size_t i = 0; i < size_; ++i)
        store_[begin_ + i] = static_cast<std::uint16_t>(bits_in(dtype_, content[i]));
    }
    before_ = store_;
  }

  [[nodiscard]] void* data() { return store_.data() + begin_; }
  [[nodiscard]] std::vector<float> content() {
    std::vector<float> values(size_);
    if (dtype_ == DType::f32) {
      if (size_ > 0) std::memcpy(values.data(), at(0), size_ * sizeof(float));
      return values;
    }
    for (std::size_t i = 0; i < size_; ++i) values[i] = value_in(dtype_, store_[begin_ + i]);
    return values;
  }

  /// Throws Misbehaved where a margin changed.
  void check_margins(const char* name) const {
    const auto untouched = [](std::uint16_t unit) { return unit == kPoison; };
    const auto begin = store_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto end = begin + static_cast<std::ptrdiff_t>(size_ * size_of(dtype_) / 2);
    if (!std::all_of(store_.begin(), begin, untouched))
      throw Misbehaved(fmt::format("the kernel wrote before {}", name));
    if (!std::all_of(end, store_.end(), untouched))
      throw Misbehaved(fmt::format("the kernel wrote past the end of {}", name));
  }
  /// Throws Misbehaved where an input is no longer what it was, bit for bit.
  void check_unchanged(const char* name) const {
    if (store_ != before_) throw Misbehaved(fmt::format("the kernel changed its input {}", name));
  }

 private:
  static constexpr std::size_t kMargin = 256;    ///< bytes
  static constexpr std::size_t kAlignment = 64;  ///< bytes

  [[nodiscard]] std::byte* at(std::size_t index) {
    return reinterpret_cast<std::byte*>(store_.data() + begin_) + index * size_of(dtype_);
  }

  DType dtype_;
  std::size_t size_;
  std::size_t begin_ = 0;  ///< in units of two bytes, as the store
  std::vector<std::uint16_t> store_, before_;
};

}  // namespace sextant
