// Buffers that notice a kernel which writes where it must not: canaries around them, copies of inputs.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace sextant {

/// Thrown where a kernel wrote outside its outputs: the law fails with this reason.
struct Misbehaved : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// float32 values between two margins of canaries, at a 64-byte boundary. An output starts as NaN.
class Guarded {
 public:
  explicit Guarded(std::size_t size)
      : Guarded(std::vector<float>(size, std::numeric_limits<float>::quiet_NaN())) {}
  explicit Guarded(const std::vector<float>& content)
      : size_(content.size()), store_(size_ + 2 * kMargin + kAlignment) {
    for (float& value : store_) value = std::bit_cast<float>(kCanary);
    const auto address = reinterpret_cast<std::uintptr_t>(store_.data() + kMargin);
    begin_ = kMargin + (kAlignment - address / sizeof(float) % kAlignment) % kAlignment;
    if (size_ > 0) std::memcpy(data(), content.data(), size_ * sizeof(float));
  }

  [[nodiscard]] float* data() { return store_.data() + begin_; }
  [[nodiscard]] std::vector<float> content() const {
    return {store_.begin() + static_cast<std::ptrdiff_t>(begin_),
            store_.begin() + static_cast<std::ptrdiff_t>(begin_ + size_)};
  }

  /// Throws Misbehaved where a margin changed.
  void check_margins(const char* name) const {
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (i >= begin_ && i < begin_ + size_) continue;
      if (std::bit_cast<std::uint32_t>(store_[i]) == kCanary) continue;
      throw Misbehaved(std::string("the kernel wrote ") + (i < begin_ ? "before" : "past the end of") + " " +
                       name);
    }
  }
  /// Throws Misbehaved where the content is no longer `before`, bit for bit.
  void check_unchanged(const std::vector<float>& before, const char* name) const {
    if (size_ > 0 && std::memcmp(store_.data() + begin_, before.data(), size_ * sizeof(float)) != 0) {
      throw Misbehaved(std::string("the kernel changed its input ") + name);
    }
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr std::size_t kAlignment = 16;  ///< floats
  static constexpr std::uint32_t kCanary = 0x7fc0dead;

  std::size_t size_;
  std::size_t begin_ = 0;
  std::vector<float> store_;
};

}  // namespace sextant
