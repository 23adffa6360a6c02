#include "sextant/reference/oracle/environment.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cfenv>
#include <limits>
#include <stdexcept>

namespace sextant {
namespace {

// Reads through volatile are values the compiler cannot know, so the arithmetic is the machine's.
double opaque(double value) {
  volatile double hidden = value;
  return hidden;
}

// The residue of 1 + 2^-60 is 2^-60; reassociation (fast-math) makes it 0.
double known_residue() {
  const double a = opaque(1), b = opaque(0x1p-60);
  const double sum = a + b;
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

// RN(a^2) - 1 - 2^-29 is 0 for a = 1 + 2^-30; with a contracted product it is 2^-60.
double contraction_residue() {
  const double a = opaque(1 + 0x1p-30), b = opaque(1 + 0x1p-29);
  return a * a - b;
}

}  // namespace

FloatingPointMode::FloatingPointMode() : control_(0) {
  std::fegetenv(&environment_);
#if defined(__x86_64__)
  constexpr unsigned kControl = 0xe040;  // rounding, FTZ, DAZ
  control_ = _mm_getcsr() & kControl;
#else
  // Two results that flushing and rounding change.
  control_ = static_cast<unsigned>(std::fegetround()) << 2 |
             (opaque(0x1p-1022) * opaque(0.5) == 0 ? 1U : 0U) |
             (opaque(std::numeric_limits<double>::denorm_min()) * opaque(0x1p100) == 0 ? 2U : 0U);
#endif
}

void FloatingPointMode::restore() const { std::fesetenv(&environment_); }

void check_floating_point() {
  const double least = std::numeric_limits<double>::denorm_min();
  if (std::fegetround() != FE_TONEAREST || opaque(1) + opaque(0x1.8p-53) != 1 + 0x1p-52)
    throw std::runtime_error("floating point: the rounding mode is not to nearest");
  if (opaque(0x1p-1022) * opaque(0.5) == 0)
    throw std::runtime_error("floating point: subnormal results are flushed to zero (FTZ)");
  if (opaque(least) * opaque(0x1p100) == 0)
    throw std::runtime_error("floating point: subnormal operands are read as zero (DAZ)");
  if (known_residue() != 0x1p-60)
    throw std::runtime_error("floating point: two-sum loses its residue (built with fast-math?)");
  if (contraction_residue() != 0)
    throw std::runtime_error("floating point: products are contracted into fused operations");
}

}  // namespace sextant
