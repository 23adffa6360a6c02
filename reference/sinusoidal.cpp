// Text form, validity and mathematics of sinusoidal embeddings.
#include "sextant/reference/sinusoidal.hpp"

#include <cmath>

#include "sextant/reference/number.hpp"
#include "sextant/reference/rounded.hpp"
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

using Layout = Sinusoidal::Layout;

constexpr std::int64_t kMaxGrid = std::int64_t{1} << 20;

}  // namespace

void read(Reader& reader, Sinusoidal& scheme) {
  scheme.dim = reader.required_integer("dim");
  scheme.base = reader.number("base").value_or(10000);
  // D (GPT-J) and E (CTRL) have the numbers and the order of B.
  scheme.layout = reader
                      .one_of<Layout>("layout", {{"A", Layout::A},
                                                 {"A'", Layout::A_cos},
                                                 {"B", Layout::B},
                                                 {"C", Layout::C},
                                                 {"D", Layout::B},
                                                 {"E", Layout::B},
                                                 {"F", Layout::F},
                                                 {"G", Layout::G},
                                                 {"H", Layout::H}})
                      .value_or(Layout::C);
  scheme.grid_rows = reader.integer("grid_rows").value_or(0);
  scheme.grid_columns = reader.integer("grid_columns").value_or(0);
}

void print(Printer& printer, const Sinusoidal& scheme) {
  constexpr const char* kNames[] = {"A", "A'", "B", "C", "F", "G", "H"};
  printer.add("dim", scheme.dim).add_unless(10000.0, "base", scheme.base);
  if (scheme.layout != Layout::C)
    printer.add("layout", std::string(kNames[static_cast<std::size_t>(scheme.layout)]));
  printer.add_unless(std::int64_t{0}, "grid_rows", scheme.grid_rows)
      .add_unless(std::int64_t{0}, "grid_columns", scheme.grid_columns);
}

void check(const Sinusoidal& scheme) {
  check_whole("sinusoidal: dim", scheme.dim, 1, kMaxHeadDim);
  check_factor("sinusoidal: base", scheme.base);
  const bool by_last = scheme.layout == Layout::A || scheme.layout == Layout::A_cos;
  if (by_last && scheme.dim < 4)
    throw InputError(fmt::format(
        "sinusoidal: dim={} has no layout A, the exponent i/(dim/2 - 1) divides by zero; use dim >= 4",
        scheme.dim));
  if (scheme.layout == Layout::F && scheme.dim < 2)
    throw InputError(
        "sinusoidal: dim=1 has no layout F, the exponent i/(dim/2) divides by zero; use dim >= 2");
  const bool two_axes = has_two_axes(scheme.layout);
  if (two_axes && scheme.dim % 4 != 0)
    throw InputError(fmt::format("sinusoidal: dim is {}; layouts G and H need a multiple of 4", scheme.dim));
  if (two_axes) check_whole("sinusoidal: grid_columns", scheme.grid_columns, 1, kMaxGrid);
  if (scheme.layout == Layout::H) check_whole("sinusoidal: grid_rows", scheme.grid_rows, 1, kMaxGrid);
  if (scheme.layout != Layout::H && scheme.grid_rows != 0)
    throw InputError("sinusoidal: grid_rows is of layout H alone");
  if (!two_axes && scheme.grid_columns != 0)
    throw InputError("sinusoidal: grid_columns is of layouts G and H alone");
}

std::vector<SinusoidColumn> columns_of(const Sinusoidal& scheme) {
  using Function = SinusoidColumn::Function;
  std::vector<SinusoidColumn> columns(static_cast<std::size_t>(scheme.dim));
  for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
    const SinusoidColumns at = sinusoid_columns(scheme, k);
    const int axis = axis_of(scheme, k);
    const std::int64_t index = k - axis * pairs_per_axis(scheme);
    const bool zero = k >= sinusoid_pairs(scheme) - zero_columns(scheme);
    columns[static_cast<std::size_t>(at.sine)] =
        zero ? SinusoidColumn{Function::zero, 0, 0} : SinusoidColumn{Function::sine, axis, index};
    if (at.cosine >= 0) columns[static_cast<std::size_t>(at.cosine)] = {Function::cosine, axis, index};
  }
  return columns;
}

namespace {

/// base^(-i numerator / denominator) for i < count.
template <class Real>
std::vector<Real> powers(const Sinusoidal& scheme, std::int64_t count) {
  using std::exp;
  using std::log;
  using std::pow;
  const auto [numerator, denominator] = ladder_of(scheme);
  std::vector<Real> result;
  if (numerator == 1) {
    const auto step = Real(Scalar<Real>(log(Scalar<Real>(scheme.base)) / Scalar<Real>(denominator)));
    for (std::int64_t i = 0; i < count; ++i) result.push_back(Real(exp(Real(Real(-i) * step))));
    return result;
  }
  const auto base = Real(Scalar<Real>(scheme.base));
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(Real(1) / Real(pow(base, Real(Real(numerator * i) / Real(denominator)))));
  return result;
}

/// 2 pi / (extent + 10^-6) of layout H.
template <class Real>
Real turn_per(std::int64_t extent) {
  const auto epsilon = Real(Scalar<Real>(Scalar<Real>(1) / Scalar<Real>(1000000)));
  return Real(Scalar<Real>(Scalar<Real>(2) * pi<Scalar<Real>>())) / Real(Real(extent) + epsilon);
}

}  // namespace

template <class Real>
std::vector<Real> inv_freq(const Sinusoidal& scheme) {
  const std::int64_t axes = has_two_axes(scheme.layout) ? 2 : 1;
  const std::vector<Real> axis = powers<Real>(scheme, pairs_per_axis(scheme) - zero_columns(scheme));
  std::vector<Real> result;
  for (std::int64_t a = 0; a < axes; ++a) {
    for (const Real& w : axis) {
      result.push_back(scheme.layout == Layout::H
                           ? Real(turn_per<Real>(a == 0 ? scheme.grid_rows : scheme.grid_columns) * w)
                           : w);
    }
  }
  result.resize(static_cast<std::size_t>(sinusoid_pairs(scheme)), Real(0));
  return result;
}

template <class Real>
std::vector<Real> sinusoid_row(const Sinusoidal& scheme, const std::vector<Real>& inv_freq,
                               std::int64_t position) {
  using std::cos;
  using std::sin;
  std::vector<Real> row(static_cast<std::size_t>(scheme.dim), Real(0));
  for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
    const SinusoidColumns at = sinusoid_columns(scheme, k);
    const Real angle =
        Real(coordinate_of(scheme, axis_of(scheme, k), position)) * inv_freq[static_cast<std::size_t>(k)];
    row[static_cast<std::size_t>(at.sine)] = sin(angle);
    if (at.cosine >= 0) row[static_cast<std::size_t>(at.cosine)] = cos(angle);
  }
  return row;
}

#define SEXTANT_INSTANTIATE_SINUSOID(REAL)                \
  template std::vector<REAL> inv_freq(const Sinusoidal&); \
  template std::vector<REAL> sinusoid_row(const Sinusoidal&, const std::vector<REAL>&, std::int64_t)

SEXTANT_INSTANTIATE_SINUSOID(float);
SEXTANT_INSTANTIATE_SINUSOID(double);
SEXTANT_INSTANTIATE_SINUSOID(Mpfr);
SEXTANT_INSTANTIATE_SINUSOID(Interval);
SEXTANT_INSTANTIATE_SINUSOID(Bin100);
template std::vector<Rounded<24>> inv_freq(const Sinusoidal&);

}  // namespace sextant
