// Decisions on reals: signs, floors and ceilings taken on intervals, with more digits until they are sure.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "sextant/reference/number.hpp"

namespace sextant {

/// A decision that the digit cap did not settle; equalities are decided symbolically before it comes to that.
struct Undecided : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr unsigned kFirstDigits = 40;
inline constexpr unsigned kMaxDigits = 2560;

/// Calls `attempt` (returning an optional) at 40, 80, ... digits until it gives a value.
template <class Attempt>
auto with_growing_digits(const char* what, Attempt attempt) {
  for (unsigned digits = kFirstDigits; digits <= kMaxDigits; digits *= 2) {
    const WorkingDigits scope(digits);
    if (auto value = attempt()) return *value;
  }
  throw Undecided(std::string(what) + ": undecided at " + std::to_string(kMaxDigits) + " digits");
}

/// Sign of the real that `enclose` encloses ever more tightly; the real must not be 0.
template <class Enclose>
[[nodiscard]] int sign_of(Enclose enclose) {
  return with_growing_digits("sign", [&]() -> std::optional<int> {
    const Interval value = enclose();
    if (lower(value) > 0) return 1;
    if (upper(value) < 0) return -1;
    return std::nullopt;
  });
}

/// Floor of a real that is not an integer (or whose enclosure becomes that single integer), clamped to
/// +-2^62.
template <class Enclose>
[[nodiscard]] std::int64_t floor_of(Enclose enclose) {
  return with_growing_digits("floor", [&]() -> std::optional<std::int64_t> {
    const Interval value = enclose();
    const Mpfr low = floor(Mpfr(lower(value)));
    if (low != floor(Mpfr(upper(value)))) return std::nullopt;
    if (abs(low) >= 0x1p62) return low < 0 ? -(std::int64_t{1} << 62) : std::int64_t{1} << 62;
    return low.template convert_to<std::int64_t>();
  });
}

template <class Enclose>
[[nodiscard]] std::int64_t ceil_of(Enclose enclose) {
  return -floor_of([&] { return Interval(-enclose()); });
}

}  // namespace sextant
