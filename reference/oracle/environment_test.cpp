#include "sextant/reference/oracle/environment.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <stdexcept>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace sextant {
namespace {

TEST(Environment, HoldsInThisBuild) { EXPECT_NO_THROW(check_floating_point()); }

TEST(Environment, RejectsEveryOtherRoundingMode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    EXPECT_THROW(check_floating_point(), std::runtime_error) << mode;
    std::fesetround(FE_TONEAREST);
  }
  EXPECT_NO_THROW(check_floating_point());
}

#if defined(__SSE2__)
TEST(Environment, RejectsFlushedSubnormals) {
  const unsigned saved = _mm_getcsr();
  for (const unsigned bits : {0x8000u, 0x0040u}) {  // FTZ, DAZ
    _mm_setcsr(saved | bits);
    EXPECT_THROW(check_floating_point(), std::runtime_error) << bits;
    _mm_setcsr(saved);
  }
  EXPECT_NO_THROW(check_floating_point());
}
#endif

}  // namespace
}  // namespace sextant
