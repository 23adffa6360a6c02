// Double-double arithmetic: exact values of laws and kernels' outputs at the cost of a few flops.
#pragma once
#include <cmath>

namespace sextant {

/// hi + lo with |lo| <= ulp(hi)/2. Barring overflow and underflow, sums have relative error < 2^-104 (3u^2 +
/// 13u^3, u = 2^-53: Joldes, Muller, Popescu, ACM TOMS 44(2), 2017, algorithm 6) and products < 2^-103 (5u^2,
/// algorithm 11).
struct Wide {
  double hi = 0;
  double lo = 0;

  constexpr Wide() = default;
  constexpr Wide(double value) : hi(value) {}  // NOLINT(google-explicit-constructor): every double is a Wide
  constexpr Wide(double high, double low) : hi(high), lo(low) {}

  [[nodiscard]] double value() const { return hi + lo; }
};

/// a + b = hi + lo exactly (Knuth).
[[nodiscard]] inline Wide two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
/// a + b = hi + lo exactly for |a| >= |b| or a = 0 (Dekker).
[[nodiscard]] inline Wide fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
/// a * b = hi + lo exactly, barring underflow.
[[nodiscard]] inline Wide two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

[[nodiscard]] inline Wide operator-(const Wide& a) { return {-a.hi, -a.lo}; }
[[nodiscard]] inline Wide operator+(const Wide& a, const Wide& b) {
  const Wide high = two_sum(a.hi, b.hi);
  const Wide low = two_sum(a.lo, b.lo);
  const Wide sum = fast_two_sum(high.hi, high.lo + low.hi);
  return fast_two_sum(sum.hi, sum.lo + low.lo);
}
[[nodiscard]] inline Wide operator-(const Wide& a, const Wide& b) { return a + -b; }
[[nodiscard]] inline Wide operator*(const Wide& a, const Wide& b) {
  const Wide product = two_product(a.hi, b.hi);
  return fast_two_sum(product.hi, product.lo + (std::fma(a.hi, b.lo, a.lo * b.hi)));
}
[[nodiscard]] inline Wide abs(const Wide& a) { return a.hi < 0 || (a.hi == 0 && a.lo < 0) ? -a : a; }

}  // namespace sextant
