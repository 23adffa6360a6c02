// Recomputing audited points by MPFR.
#include "sextant/reference/oracle/audit.hpp"
#include "sextant/reference/scatter.hpp"

#include <algorithm>

#include "sextant/reference/number.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {
namespace {

constexpr unsigned kDigits = 108;
constexpr std::uint64_t kOneIn = 512;

// Which positions and pairs are audited must look random and depend on nothing else: scatter.
bool is_audited(std::int64_t position) {
  const auto magnitude = static_cast<std::uint64_t>(std::abs(position));
  return (magnitude & (magnitude - 1)) == 0 || scatter(static_cast<std::uint64_t>(position)) % kOneIn == 0;
}

double share(const Mpfr& truth, const Wide& value, double bound) {
  const Mpfr difference = abs(Mpfr(value.hi) + Mpfr(value.lo) - truth);
  return difference == 0 ? 0 : Mpfr(difference / bound).convert_to<double>();
}

/// `coordinate(position, pair)` is what the pair's frequency is multiplied by.
template <class Coordinate>
Audit audit_points(const Oracle& oracle, const Frequencies<Mpfr>& exact, std::int64_t begin, std::int64_t end,
                   Coordinate coordinate) {
  const std::size_t pairs = exact.inv_freq.size();
  std::vector<double> row_cos(pairs), row_sin(pairs), rows_cos(pairs), rows_sin(pairs);
  Audit result;
  for (std::int64_t position = begin; position < end; ++position) {
    if (!is_audited(position)) continue;
    const std::size_t pair = scatter(~static_cast<std::uint64_t>(position)) % pairs;
    const std::int64_t m = coordinate(position, static_cast<std::int64_t>(pair));
    const Mpfr angle = exact.inv_freq[pair] * m;
    const Mpfr c = cos(angle) * exact.attention_factor;
    const Mpfr s = sin(angle) * exact.attention_factor;
    oracle.row(m, row_cos.data(), row_sin.data());
    oracle.rows(m, 1, rows_cos.data(), rows_sin.data());
    const Oracle::WidePair wide = oracle.wide(m, static_cast<std::int64_t>(pair));
    ++result.points;
    for (const double seen :
         {share(c, row_cos[pair], oracle.bound()), share(s, row_sin[pair], oracle.bound()),
          share(c, rows_cos[pair], oracle.bound()), share(s, rows_sin[pair], oracle.bound()),
          share(c, wide.cos, oracle.wide_bound()), share(s, wide.sin, oracle.wide_bound())}) {
      result.worst_share = std::max(result.worst_share, seen);
    }
  }
  return result;
}

}  // namespace

Audit& Audit::operator+=(const Audit& other) {
  points += other.points;
  worst_share = std::max(worst_share, other.worst_share);
  return *this;
}

Audit audit(const Oracle& oracle, const Rope& rope, std::int64_t seq_len, std::int64_t begin,
            std::int64_t end) {
  const WorkingDigits scope(kDigits);
  return audit_points(oracle, frequencies<Mpfr>(rope, seq_len), begin, end,
                      [](std::int64_t position, std::int64_t) { return position; });
}

Audit audit(const Sinusoidal& scheme, std::int64_t begin, std::int64_t end) {
  const WorkingDigits scope(kDigits);
  const Frequencies<Mpfr> exact{inv_freq<Mpfr>(scheme), Mpfr(1)};
  const bool grid = has_two_axes(scheme.layout);
  const Oracle oracle = OracleAccess::make(exact.inv_freq, Mpfr(1), grid ? 0 : begin, grid ? 0 : end);
  return audit_points(oracle, exact, begin, end, [&](std::int64_t position, std::int64_t pair) {
    return coordinate_of(scheme, axis_of(scheme, pair), position);
  });
}

}  // namespace sextant
