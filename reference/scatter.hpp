// One mixing function for whatever must look random and depend on nothing else.
#pragma once
#include <cstdint>

namespace sextant {

/// splitmix64 finaliser (Steele, Lea, Flood 2014): a bijection of 64 bits that scatters counters.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace sextant
