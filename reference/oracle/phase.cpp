#include "sextant/reference/oracle/phase.hpp"

#include <array>
#include <cstddef>

#include "sextant/reference/oracle/seeds.hpp"

namespace sextant::oracle {
namespace {

constexpr int kIndexBits = 10;
constexpr std::size_t kPoints = std::size_t{1} << kIndexBits;

// The points e^(2 pi i n / kPoints), as powers of the first: the fixed point errs by less than 2^-177.
std::array<CosSin, kPoints> circle() {
  const WorkingDigits scope(kSeedDigits);
  const Phasor root = phasor(2 * pi<Mpfr>() / kPoints);
  std::array<CosSin, kPoints> points;
  Phasor point = kOne;
  for (CosSin& rounded : points) {
    rounded = {to_wide(point.cos).hi, to_wide(point.sin).hi};
    point = point * root;
  }
  return points;
}

}  // namespace

CosSin phase(TurnsPerPosition turns, std::uint64_t position) {
  static const std::array<CosSin, kPoints> points = circle();
  constexpr int kRestBits = 64 - kIndexBits;
  constexpr double kRadiansPerUnit = 0x1.921fb54442d18p2 * 0x1p-64;

  const auto angle = static_cast<std::uint64_t>(turns * position >> 64);
  const std::uint64_t index = (angle + (std::uint64_t{1} << (kRestBits - 1))) >> kRestBits;
  const auto rest = static_cast<std::int64_t>(angle - (index << kRestBits));
  const CosSin& point = points[index % kPoints];

  const double x = static_cast<double>(rest) * kRadiansPerUnit;
  const double x2 = x * x;
  const double sin_x = x + x * (x2 * (x2 * (1.0 / 120) - 1.0 / 6));
  const double cos_x_minus_1 = x2 * (x2 * (1.0 / 24 - x2 * (1.0 / 720)) - 0.5);
  return {point.cos + (point.cos * cos_x_minus_1 - point.sin * sin_x),
          point.sin + (point.sin * cos_x_minus_1 + point.cos * sin_x)};
}

}  // namespace sextant::oracle
