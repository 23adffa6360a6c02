// Powers and roots of whole numbers.
#include "sextant/reference/log_buckets.hpp"

#include <boost/multiprecision/gmp.hpp>
#include <numeric>

namespace sextant {
namespace {

using Whole = boost::multiprecision::mpz_int;

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

Whole power(std::int64_t base, std::int64_t exponent) {
  return pow(Whole(base), static_cast<unsigned>(exponent));
}

/// a^p b^(q-p) with p/q in lowest terms, as numerator and denominator.
struct Quotient {
  Whole over, under;
  std::int64_t root;
};
Quotient quotient(std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q) {
  const std::int64_t common = std::gcd(p, q);
  p /= common;
  q /= common;
  return {power(a, p) * power(b, std::max<std::int64_t>(q - p, 0)),
          power(b, std::max<std::int64_t>(p - q, 0)), q};
}

}  // namespace

std::int64_t floor_between(std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q) {
  const Quotient x = quotient(a, b, p, q);
  // r^q <= x holds for a whole r where r^q <= floor(x).
  const Whole floor = x.over / x.under;
  Whole root;
  mpz_root(root.backend().data(), floor.backend().data(), static_cast<unsigned long>(x.root));
  return root > kLargest ? kLargest : root.convert_to<std::int64_t>();
}

bool is_between(std::int64_t r, std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q) {
  const Quotient x = quotient(a, b, p, q);
  return power(r, x.root) * x.under == x.over;
}

}  // namespace sextant
