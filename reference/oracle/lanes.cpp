// Compiled once per target: see lanes.hpp. The bounds of the products are proved here.
#include "sextant/reference/oracle/lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#define HWY_COMPILE_ALL_ATTAINABLE  // the scalar target too: it runs everywhere and has the same bits
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/reference/oracle/lanes.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::oracle {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using D64 = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using V64 = hn::Vec<D64>;
using M = hn::Mask<D>;

struct CosSinV {
  V cos, sin;
};
struct WideV {
  V hi, lo;
};

HWY_INLINE WideV TwoSum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V b_part = hn::Sub(sum, a);
  return {sum, hn::Add(hn::Sub(a, hn::Sub(sum, b_part)), hn::Sub(b, b_part))};
}

// The error of a product is a double whichever way it is found: FMA, or Dekker's halves of 26 bits.
HWY_INLINE WideV TwoProduct(V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return {product, hn::MulSub(a, b, product)};
#else
  const D d;
  const V splitter = hn::Set(d, 0x1p27 + 1);
  const V a_scaled = hn::Mul(a, splitter), b_scaled = hn::Mul(b, splitter);
  const V a_hi = hn::Sub(a_scaled, hn::Sub(a_scaled, a)), b_hi = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V a_lo = hn::Sub(a, a_hi), b_lo = hn::Sub(b, b_hi);
  const V rest =
      hn::Add(hn::Add(hn::Sub(hn::Mul(a_hi, b_hi), product), hn::Mul(a_hi, b_lo)), hn::Mul(a_lo, b_hi));
  return {product, hn::Add(rest, hn::Mul(a_lo, b_lo))};
#endif
}

// a b + c e for |a b + c e| <= p, components at most p and 1, low words at most 2^-54 of that. In units of
// 2^-107 p: the two product errors add with rounding 1, the sum's error joins with 2; four cross products
// round by 1/2 each, their sums by 1, 1 and 2, and join with 4; a.lo b.lo and c.lo e.lo are dropped, 1. The
// last sum is exact. Together 14, so |error| <= 14 p 2^-107.
HWY_INLINE WideV DotProduct(WideV a, WideV b, WideV c, WideV e) {
  const WideV p = TwoProduct(a.hi, b.hi), q = TwoProduct(c.hi, e.hi);
  const WideV sum = TwoSum(p.hi, q.hi);
  const V cross_ab = hn::Add(hn::Mul(a.hi, b.lo), hn::Mul(a.lo, b.hi));
  const V cross_ce = hn::Add(hn::Mul(c.hi, e.lo), hn::Mul(c.lo, e.hi));
  const V small = hn::Add(hn::Add(hn::Add(p.lo, q.lo), sum.lo), hn::Add(cross_ab, cross_ce));
  return TwoSum(sum.hi, small);
}

struct WideCosSin {
  WideV cos, sin;
};

HWY_INLINE WideCosSin LoadWide(WideRow row, size_t k) {
  const D d;
  return {{hn::LoadU(d, row.high + k), hn::LoadU(d, row.low + k)},
          {hn::LoadU(d, row.high + row.plane + k), hn::LoadU(d, row.low + row.plane + k)}};
}

HWY_INLINE WideCosSin ComplexProduct(const WideCosSin& a, const WideCosSin& b) {
  const WideV minus_sin{hn::Neg(a.sin.hi), hn::Neg(a.sin.lo)};
  return {DotProduct(a.cos, b.cos, minus_sin, b.sin), DotProduct(a.sin, b.cos, a.cos, b.sin)};
}

HWY_INLINE void StoreWide(const WideCosSin& value, double* out, size_t plane) {
  const D d;
  hn::StoreU(value.cos.hi, d, out);
  hn::StoreU(value.sin.hi, d, out + plane);
  hn::StoreU(value.cos.lo, d, out + 2 * plane);
  hn::StoreU(value.sin.lo, d, out + 3 * plane);
}

void Multiply(WideRow top, WideRow mid, double* out, size_t plane, size_t lanes) {
  for (size_t k = 0; k < lanes; k += hn::Lanes(D()))
    StoreWide(ComplexProduct(LoadWide(top, k), LoadWide(mid, k)), out + k, plane);
}

HWY_INLINE WideRow FineRow(const Tile& tile, size_t row) {
  return {tile.fine.high + row * tile.fine_step, tile.fine.low + row * tile.fine_step, tile.fine.plane};
}

void EvaluateWide(const Tile& tile, double* out, size_t plane, size_t step) {
  for (size_t row = 0; row < tile.rows; ++row)
    Multiply(tile.factor, FineRow(tile, row), out + row * step, plane, tile.lanes);
}

// The double product: four roundings of products, two of sums, no FMA.
HWY_INLINE CosSinV Product(WideRow factor, WideRow fine, size_t k) {
  const D d;
  const V ec = hn::LoadU(d, factor.high + k), es = hn::LoadU(d, factor.high + factor.plane + k);
  const V fc = hn::LoadU(d, fine.high + k), fs = hn::LoadU(d, fine.high + fine.plane + k);
  return {hn::Sub(hn::Mul(ec, fc), hn::Mul(es, fs)), hn::Add(hn::Mul(es, fc), hn::Mul(ec, fs))};
}

void Evaluate(const Tile& tile, double* cos, double* sin, size_t step) {
  const D d;
  for (size_t row = 0; row < tile.rows; ++row)
    for (size_t k = 0; k < tile.lanes; k += hn::Lanes(d)) {
      const CosSinV value = Product(tile.factor, FineRow(tile, row), k);
      hn::StoreU(value.cos, d, cos + row * step + k);
      hn::StoreU(value.sin, d, sin + row * step + k);
    }
}

// Exact widening to double, NaN and infinities kept. A float16 is placed in the exponent range of float32 and
// scaled by 2^112, which is exact for its subnormals too.
template <Storage kStorage>
HWY_INLINE V LoadGiven(const void* row, size_t k) {
  const D d;
  const hn::Rebind<float, D> df;
  if constexpr (kStorage == Storage::float32) {
    return hn::PromoteTo(d, hn::LoadU(df, static_cast<const float*>(row) + k));
  } else {
    const hn::Rebind<uint16_t, D> d16;
    const hn::RebindToSigned<decltype(df)> d32;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, static_cast<const uint16_t*>(row) + k));
    if constexpr (kStorage == Storage::bfloat16) {
      return hn::PromoteTo(d, hn::BitCast(df, hn::ShiftLeft<16>(bits)));
    } else {
      const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fff));
      const auto sign = hn::ShiftLeft<16>(hn::Sub(bits, magnitude));
      const auto finite = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112f));
      const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(d32, 0x7f800000));
      const auto is_special = hn::RebindMask(df, hn::Gt(magnitude, hn::Set(d32, 0x7bff)));
      const auto value = hn::IfThenElse(is_special, hn::BitCast(df, special), finite);
      return hn::PromoteTo(d, hn::Or(value, hn::BitCast(df, sign)));
    }
  }
}

// Adding 1.5 2^36 rounds a number below 2^35 to a multiple of 2^-16, to nearest, and shows it as an integer
// in the low bits.
// Errors are counted in 2^30 ulp, so that for v = 0 the inverse spacing stays a finite double and its slack
// huge.
constexpr int kUlpBits = 30;
constexpr double kUlp = 0x1p-30;
constexpr double kUnit = 0x1p-16 * kUlp;
constexpr double kShift = 0x1.8p36 * kUlp;
constexpr double kHalfAnUlp = kShift + 0.5 * kUlp;
constexpr double kCertifiable = kShift + 0x1p34 * kUlp;

struct Scale {
  V least_normal;
  V64 scale_exponent;  // of 2^(p-1) in units of the reference's binade
  V table_bound, wide_bound;
};

HWY_INLINE V Binade(V v) {
  const D d;
  return hn::And(v, hn::BitCast(d, hn::Set(D64(), uint64_t{0x7ff} << 52)));
}

// An error rounded to units (plus kShift), what the rounding took off, and how far the bound reaches from
// there, all in ulp. Scaling by a power of two is exact, so a target that fuses it with an addition rounds
// alike. |g - v| is exact where it is below half an ulp (Sterbenz).
struct Measured {
  V shifted, rest, reach;
};

HWY_INLINE V InverseUlp(const Scale& format, V v) {
  const D d;
  V binade = Binade(v);
  binade = hn::Max(binade, format.least_normal);
  return hn::BitCast(d, hn::Sub(format.scale_exponent, hn::BitCast(D64(), binade)));
}

HWY_INLINE Measured Measure(V distance, V inverse_ulp, V bound) {
  const V shift = hn::Set(D(), kShift);
  const V shifted = hn::MulAdd(distance, inverse_ulp, shift);
  const V rest = hn::MulSub(distance, inverse_ulp, hn::Sub(shifted, shift));
  return {shifted, rest, hn::MulAdd(inverse_ulp, bound, hn::Abs(rest))};
}

struct Certified {
  V shifted;
  M sure;
};

HWY_INLINE Certified Either(const Certified& first, const Certified& second) {
  return {hn::IfThenElse(first.sure, first.shifted, second.shifted), hn::Or(first.sure, second.sure)};
}

// In double-double: g - h = s + t exactly, so r = |s + (t - l)| in ulp with an error far below 2^-60. A high
// word that is a power of two may hide a truth below it, and tiny ones a truth in any binade.
HWY_INLINE Certified MeasureWide(const Scale& format, WideV w, V g) {
  const D d;
  const V inverse_ulp = InverseUlp(format, w.hi);
  const WideV difference = TwoSum(g, hn::Neg(w.hi));
  const V distance = hn::Abs(difference.hi);
  const V low = hn::Xor(hn::Sub(difference.lo, w.lo), hn::And(difference.hi, hn::SignBit(d)));
  const Measured m = Measure(distance, inverse_ulp, format.wide_bound);
  const V rest = hn::Abs(hn::MulAdd(low, inverse_ulp, m.rest));
  const V slack = hn::MulAdd(inverse_ulp, hn::MulAdd(distance, hn::Set(d, 0x1p-100), format.wide_bound),
                             hn::Set(d, 0x1p-60 * kUlp));
  const V size = hn::Abs(w.hi);
  const M sound = hn::And(hn::Gt(size, hn::Set(d, 0x1p-40)), hn::Ne(size, Binade(size)));
  const M near =
      hn::And(hn::Lt(m.shifted, hn::Set(d, kCertifiable)), hn::Ne(m.shifted, hn::Set(d, kHalfAnUlp)));
  return {m.shifted, hn::And(hn::And(hn::Le(hn::Add(rest, slack), hn::Set(d, kUnit / 2)), near), sound)};
}

HWY_INLINE WideCosSin WideProduct(const Tile& tile, size_t row, size_t k) {
  return ComplexProduct(LoadWide(tile.factor, k), LoadWide(FineRow(tile, row), k));
}

// By the double product alone, wrong values included: |g - v| rounds by 2^-53 of itself, and v and the truth
// must share a binade.
HWY_INLINE Certified MeasureTable(const Scale& format, V v, V distance) {
  const D d;
  const V size = hn::Abs(v);
  const V bound = hn::MulAdd(distance, hn::Set(d, 0x1p-53), format.table_bound);
  const Measured m = Measure(distance, InverseUlp(format, v), bound);
  const M one_binade = hn::Eq(InverseUlp(format, hn::Sub(size, format.table_bound)),
                              InverseUlp(format, hn::Add(size, format.table_bound)));
  const M near =
      hn::And(hn::Lt(m.shifted, hn::Set(d, kCertifiable)), hn::Ne(m.shifted, hn::Set(d, kHalfAnUlp)));
  return {m.shifted, hn::And(hn::And(hn::Le(m.reach, hn::Set(d, kUnit / 2)), near), one_binade)};
}

// Passes on what is uncertain or may be a record; NaN are counted here once one is known.
HWY_NOINLINE void HandOver(size_t row, size_t k, Function function, V g, V distance, V shifted, M sure,
                           CheckState& state) {
  const D d;
  std::array<double, 8> g_lanes, distances, shifted_lanes;
  std::array<uint8_t, 8> sure_bits{};
  hn::StoreU(g, d, g_lanes.data());
  hn::StoreU(distance, d, distances.data());
  hn::StoreU(shifted, d, shifted_lanes.data());
  hn::StoreMaskBits(d, sure, sure_bits.data());
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    const bool certified = (sure_bits[0] >> lane & 1) != 0;
    const double units = certified ? (shifted_lanes[lane] - kShift) / kUnit : -1;
    if (certified && units < state.record_units && distances[lane] <= state.record_abs) continue;
    if (state.nan_known && g_lanes[lane] != g_lanes[lane])
      ++state.nan;
    else
      state.pass_on(state.context, row, k + lane, function, g_lanes[lane], units);
  }
}

// From which error on a value is handed over. |g - v| <= r ulp_top, so in the fast test a limit on r is one
// on the distance: a single comparison serves both records, and correct rounding.
struct Records {
  V fast, units, distance;
  double units_per_distance;  ///< 1 / ulp_top, in units
};
HWY_INLINE void ReadRecords(const CheckState& state, Records& record) {
  const D d;
  const double fast = std::min({state.record_units, 32768.0, state.record_abs * record.units_per_distance});
  record.fast = hn::Set(d, kShift + kUnit * std::floor(fast));
  record.units = hn::Set(d, kShift + kUnit * std::min(state.record_units, 0x1p50));
  record.distance = hn::Set(d, state.record_abs);
}

struct RowPointers {
  const char* cos;
  const char* sin;
};
HWY_INLINE RowPointers GivenRow(const GivenRows& given, size_t row) {
  const auto r = static_cast<ptrdiff_t>(row);
  return {static_cast<const char*>(given.cos) + r * given.cos_step,
          static_cast<const char*>(given.sin) + r * given.sin_step};
}
template <Storage kStorage>
HWY_INLINE CosSinV LoadRow(RowPointers row, size_t k) {
  return {LoadGiven<kStorage>(row.cos, k), LoadGiven<kStorage>(row.sin, k)};
}

HWY_INLINE V64 Bits(V a, V b) { return hn::Add(hn::BitCast(D64(), a), hn::BitCast(D64(), b)); }

struct MeasuredPair {
  Measured cos, sin;
};
HWY_INLINE MeasuredPair MeasureBoth(const Scale& format, const CosSinV& v, const CosSinV& g) {
  return {Measure(hn::Abs(hn::Sub(g.cos, v.cos)), InverseUlp(format, v.cos), format.table_bound),
          Measure(hn::Abs(hn::Sub(g.sin, v.sin)), InverseUlp(format, v.sin), format.table_bound)};
}

// A vector with a wrong value, a record, or a rounding that the double product leaves open. Returns its
// units.
template <Storage kStorage>
HWY_NOINLINE V64 Resolve(const Tile& tile, const GivenRows& given, const Scale& format, Records& record,
                         size_t row, size_t k, CheckState& state) {
  const D d;
  const CosSinV v = Product(tile.factor, FineRow(tile, row), k);
  const CosSinV g = LoadRow<kStorage>(GivenRow(given, row), k);
  const V half_ulp = hn::Set(d, kHalfAnUlp), no_units = hn::Set(d, kShift);
  const V c_distance = hn::Abs(hn::Sub(g.cos, v.cos)), s_distance = hn::Abs(hn::Sub(g.sin, v.sin));
  Certified c = MeasureTable(format, v.cos, c_distance);
  Certified s = MeasureTable(format, v.sin, s_distance);
  if (!hn::AllTrue(d, hn::And(c.sure, s.sure))) {
    const WideCosSin truth = WideProduct(tile, row, k);
    c = Either(c, MeasureWide(format, truth.cos, g.cos));
    s = Either(s, MeasureWide(format, truth.sin, g.sin));
  }
  state.not_correctly_rounded += hn::CountTrue(d, hn::And(c.sure, hn::Gt(c.shifted, half_ulp))) +
                                 hn::CountTrue(d, hn::And(s.sure, hn::Gt(s.shifted, half_ulp)));
  const V c_units = hn::IfThenElse(c.sure, c.shifted, no_units);
  const V s_units = hn::IfThenElse(s.sure, s.shifted, no_units);
  const M no_record = hn::And(hn::And(hn::Lt(c_units, record.units), hn::Lt(s_units, record.units)),
                              hn::Le(hn::Max(c_distance, s_distance), record.distance));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(no_record, hn::And(c.sure, s.sure))))) {
    HandOver(row, k, Function::cos, g.cos, c_distance, c_units, c.sure, state);
    HandOver(row, k, Function::sin, g.sin, s_distance, s_units, s.sure, state);
    ReadRecords(state, record);
  }
  return hn::Add(hn::BitCast(D64(), c_units), hn::BitCast(D64(), s_units));
}

// Vectors that hold a rounding to units which the double product leaves open: in double-double. `sum` counts
// them as the product rounded them.
template <Storage kStorage>
HWY_INLINE V64 SettleOpen(const Tile& tile, const GivenRows& given, const Scale& format, Records& record,
                          const uint16_t* open, size_t count, V64 sum, CheckState& state) {
  const D d;
  const V half_ulp = hn::Set(d, kHalfAnUlp);
  for (size_t i = 0; i < count; ++i) {
    const size_t row = open[i] / tile.lanes, k = open[i] % tile.lanes;
    const CosSinV v = Product(tile.factor, FineRow(tile, row), k);
    const CosSinV g = LoadRow<kStorage>(GivenRow(given, row), k);
    const auto [c, s] = MeasureBoth(format, v, g);
    sum = hn::Sub(sum, Bits(c.shifted, s.shifted));
    const WideCosSin truth = WideProduct(tile, row, k);
    const Certified c_wide = MeasureWide(format, truth.cos, g.cos);
    const Certified s_wide = MeasureWide(format, truth.sin, g.sin);
    const V distance = hn::Max(hn::Abs(hn::Sub(g.cos, v.cos)), hn::Abs(hn::Sub(g.sin, v.sin)));
    const M no_record = hn::And(hn::Lt(hn::Max(c_wide.shifted, s_wide.shifted), record.units),
                                hn::Le(distance, record.distance));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(no_record, hn::And(c_wide.sure, s_wide.sure))))) {
      sum = hn::Add(sum, Bits(c_wide.shifted, s_wide.shifted));
      state.not_correctly_rounded += hn::CountTrue(d, hn::Gt(c_wide.shifted, half_ulp)) +
                                     hn::CountTrue(d, hn::Gt(s_wide.shifted, half_ulp));
    } else {
      sum = hn::Add(sum, Resolve<kStorage>(tile, given, format, record, row, k, state));
    }
  }
  return sum;
}

// `kLean` expects correct tables: a vector is finished when all of it is less than half an ulp off, no
// record, and in units that the bound cannot change. Otherwise wrong values are certified and counted as
// well. The comparisons of `shifted` are false for NaN. Where a lean lane's v and truth lie in two binades, g
// is the power of two between them, and its error 0 units in either.
template <Storage kStorage, bool kLean>
void CheckRows(const Tile& tile, const GivenRows& given, const Scale& format, double units_per_distance,
               CheckState& state) {
  constexpr size_t kAhead = 4096;  // bytes: what the hardware's prefetching does not reach in time
  constexpr size_t kSize = kStorage == Storage::float32 ? 4 : 2;
  const D d;
  const size_t n = hn::Lanes(d), lanes = tile.lanes;
  const V half_unit = hn::Set(d, kUnit / 2), half_ulp = hn::Set(d, kHalfAnUlp);
  const Scale scale = format;
  V64 sum = hn::Zero(D64());
  size_t wrong = 0;
  Records record;
  record.units_per_distance = units_per_distance;
  ReadRecords(state, record);
  // One vector in sixteen of a correct table is left open. Those are listed without a branch, which would be
  // mispredicted, and settled after the tile.
  std::array<uint16_t, kMaxTile> open;
  size_t open_count = 0;
  for (size_t row = 0; row < tile.rows; ++row) {
    const WideRow factor = tile.factor, fine = FineRow(tile, row);
    const RowPointers pointers = GivenRow(given, row);
    for (size_t k = 0; k < lanes; k += n) {
      const CosSinV v = Product(factor, fine, k);
      const CosSinV g = LoadRow<kStorage>(pointers, k);
      hwy::Prefetch(pointers.cos + k * kSize + kAhead);
      hwy::Prefetch(pointers.sin + k * kSize + kAhead);
      V c_shifted, s_shifted;
      M usual, certain;
      if constexpr (kLean) {
        const auto [c, s] = MeasureBoth(scale, v, g);
        c_shifted = c.shifted;
        s_shifted = s.shifted;
        usual = hn::And(hn::Lt(c_shifted, record.fast), hn::Lt(s_shifted, record.fast));
        certain = hn::Le(hn::Max(c.reach, s.reach), half_unit);
      } else {
        const V c_distance = hn::Abs(hn::Sub(g.cos, v.cos)), s_distance = hn::Abs(hn::Sub(g.sin, v.sin));
        const Certified c = MeasureTable(scale, v.cos, c_distance);
        const Certified s = MeasureTable(scale, v.sin, s_distance);
        c_shifted = c.shifted;
        s_shifted = s.shifted;
        usual = hn::And(hn::And(hn::Lt(c_shifted, record.units), hn::Lt(s_shifted, record.units)),
                        hn::Le(hn::Max(c_distance, s_distance), record.distance));
        certain = hn::And(c.sure, s.sure);
      }
      if (HWY_UNLIKELY(!hn::AllTrue(d, usual))) {
        sum = hn::Add(sum, Resolve<kStorage>(tile, given, format, record, row, k, state));
        continue;
      }
      const bool all_certain = hn::AllTrue(d, certain);
      sum = hn::Add(sum, Bits(c_shifted, s_shifted));
      open[open_count] = static_cast<uint16_t>(row * lanes + k);
      open_count += all_certain ? 0 : 1;
      if constexpr (!kLean) {
        const size_t found =
            hn::CountTrue(d, hn::Gt(c_shifted, half_ulp)) + hn::CountTrue(d, hn::Gt(s_shifted, half_ulp));
        wrong += all_certain ? found : 0;
      }
    }
  }
  state.not_correctly_rounded += wrong;
  sum = SettleOpen<kStorage>(tile, given, format, record, open.data(), open_count, sum, state);
  // Sums modulo 2^64; the true ones stay below 2^13 terms of 2^50 each.
  std::array<uint64_t, 8> sums{};
  hn::StoreU(sum, D64(), sums.data());
  uint64_t total = 0;
  for (size_t i = 0; i < n; ++i) total += sums[i];
  state.units += total - 2 * tile.rows * tile.lanes * std::bit_cast<uint64_t>(kShift);
}

HWY_INLINE Scale MakeScale(const FormatLimits& format, const Bounds& bounds) {
  const D d;
  // The bounds cover the roundings of the tests themselves, each below 2^-20 of them.
  return {hn::Set(d, std::bit_cast<double>(static_cast<uint64_t>(1023 + format.emin) << 52)),
          hn::Set(D64(), static_cast<uint64_t>(2046 + format.precision - 1 - kUlpBits) << 52),
          hn::Set(d, bounds.table * (1 + 0x1p-20)), hn::Set(d, bounds.wide * (1 + 0x1p-20))};
}

template <Storage kStorage>
void CheckStored(const Tile& tile, const GivenRows& given, const Scale& format, double units_per_distance,
                 CheckState& state) {
  const auto check = state.expect_wrong ? CheckRows<kStorage, false> : CheckRows<kStorage, true>;
  check(tile, given, format, units_per_distance, state);
}

void Check(const Tile& tile, const GivenRows& given, Storage storage, const FormatLimits& limits,
           const Bounds& bounds, CheckState& state) {
  const Scale format = MakeScale(limits, bounds);
  const double top_spacing = std::max(std::ldexp(bounds.scale, -limits.precision),
                                      std::ldexp(1.0, limits.emin - limits.precision + 1));
  const double top = 65536 / top_spacing;
  switch (storage) {
    case Storage::float32:
      return CheckStored<Storage::float32>(tile, given, format, top, state);
    case Storage::float16:
      return CheckStored<Storage::float16>(tile, given, format, top, state);
    case Storage::bfloat16:
      return CheckStored<Storage::bfloat16>(tile, given, format, top, state);
  }
}

// The multiple of the format's spacing nearest to v, certain if no real within the bound lies beyond half the
// spacing from it. At a power of two the denser side below is served too, a quarter of the spacing being
// kept.
struct Rounding {
  V least_normal, shift, half_spacing, bound, largest;
};

template <Storage kStorage>
HWY_INLINE void StoreRounded(V rounded, void* row, size_t k) {
  const hn::Rebind<float, D> df;
  const auto narrow = hn::DemoteTo(df, rounded);
  if constexpr (kStorage == Storage::float32) {
    hn::StoreU(narrow, df, static_cast<float*>(row) + k);
  } else {
    const hn::Rebind<uint16_t, D> d16;
    const hn::RebindToSigned<decltype(df)> d32;
    const hn::RebindToUnsigned<decltype(df)> du32;
    auto* out = static_cast<uint16_t*>(row) + k;
    if constexpr (kStorage == Storage::bfloat16) {
      const auto bits = hn::BitCast(d32, hn::ShiftRight<16>(hn::BitCast(du32, narrow)));
      hn::StoreU(hn::DemoteTo(d16, bits), d16, out);
    } else {
      const auto scaled = hn::Mul(hn::Abs(narrow), hn::Set(df, 0x1p-112f));
      const auto is_inf = hn::RebindMask(d32, hn::Gt(hn::Abs(narrow), hn::Set(df, 65504.0f)));
      const auto finite = hn::BitCast(d32, hn::ShiftRight<13>(hn::BitCast(du32, scaled)));
      const auto magnitude = hn::IfThenElse(is_inf, hn::Set(d32, 0x7c00), finite);
      const auto sign = hn::BitCast(d32, hn::ShiftLeft<15>(hn::ShiftRight<31>(hn::BitCast(du32, narrow))));
      hn::StoreU(hn::DemoteTo(d16, hn::Or(magnitude, sign)), d16, out);
    }
  }
}

HWY_NOINLINE V RoundOpenLanes(V rounded, M certain, size_t row, size_t k, Function function,
                              const ProduceState& state) {
  const D d;
  std::array<double, 8> lanes;
  std::array<uint8_t, 8> open{};
  hn::StoreU(rounded, d, lanes.data());
  hn::StoreMaskBits(d, hn::Not(certain), open.data());
  for (unsigned bits = open[0] & ((1u << hn::Lanes(d)) - 1); bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(bits));
    lanes[lane] = state.pass_on(state.context, row, k + lane, function);
  }
  return hn::LoadU(d, lanes.data());
}

HWY_INLINE V Round(const Rounding& format, V v, size_t row, size_t k, Function function,
                   const ProduceState& state) {
  const D d;
  const V binade = hn::Max(Binade(v), format.least_normal);
  const V shift = hn::Mul(binade, format.shift);
  const V rounded = hn::Sub(hn::Add(v, shift), shift);
  const V reach = hn::Add(hn::Abs(hn::Sub(v, rounded)), format.bound);
  const V half_spacing = hn::Mul(binade, format.half_spacing);
  const M certain = hn::And(hn::And(hn::Lt(reach, half_spacing), hn::Le(hn::Abs(rounded), format.largest)),
                            hn::Lt(hn::Add(format.bound, format.bound), half_spacing));
  if (HWY_LIKELY(hn::AllTrue(d, certain))) return rounded;
  return RoundOpenLanes(rounded, certain, row, k, function, state);
}

template <Storage kStorage>
void ProduceRows(const Tile& tile, void* cos, void* sin, size_t step, const Rounding& format,
                 const ProduceState& state) {
  for (size_t row = 0; row < tile.rows; ++row)
    for (size_t k = 0; k < tile.lanes; k += hn::Lanes(D())) {
      const CosSinV v = Product(tile.factor, FineRow(tile, row), k);
      StoreRounded<kStorage>(Round(format, v.cos, row, k, Function::cos, state),
                             static_cast<char*>(cos) + row * step, k);
      StoreRounded<kStorage>(Round(format, v.sin, row, k, Function::sin, state),
                             static_cast<char*>(sin) + row * step, k);
    }
}

void Produce(const Tile& tile, void* cos, void* sin, size_t step, Storage storage, const FormatLimits& limits,
             const Bounds& bounds, const ProduceState& state) {
  const D d;
  const auto power_of_two = [](int exponent) {
    return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
  };
  const Rounding format{hn::Set(d, power_of_two(limits.emin)),
                        hn::Set(d, 1.5 * power_of_two(53 - limits.precision)),
                        hn::Set(d, power_of_two(-limits.precision)), hn::Set(d, bounds.table * (1 + 0x1p-20)),
                        hn::Set(d, limits.largest)};
  switch (storage) {
    case Storage::float32:
      return ProduceRows<Storage::float32>(tile, cos, sin, step, format, state);
    case Storage::float16:
      return ProduceRows<Storage::float16>(tile, cos, sin, step, format, state);
    case Storage::bfloat16:
      return ProduceRows<Storage::bfloat16>(tile, cos, sin, step, format, state);
  }
}

constexpr Lanes kLanes{HWY_STR(HWY_NAMESPACE) + 2, Multiply, Evaluate, EvaluateWide, Check, Produce};

}  // namespace HWY_NAMESPACE
}  // namespace sextant::oracle
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::oracle {

std::span<const Lanes* const> supported_lanes() {
  static const std::vector<const Lanes*> lanes = [] {
    std::vector<const Lanes*> found;
    const auto add_if = [&](std::int64_t target, const Lanes* candidate) {
      if ((hwy::SupportedTargets() & target) != 0) found.push_back(candidate);
    };
#if HWY_TARGETS & HWY_AVX3
    add_if(HWY_AVX3, &N_AVX3::kLanes);
#endif
#if HWY_TARGETS & HWY_AVX2
    add_if(HWY_AVX2, &N_AVX2::kLanes);
#endif
#if HWY_TARGETS & HWY_SSE4
    add_if(HWY_SSE4, &N_SSE4::kLanes);
#endif
#if HWY_TARGETS & HWY_SSSE3
    add_if(HWY_SSSE3, &N_SSSE3::kLanes);
#endif
#if HWY_TARGETS & HWY_NEON
    add_if(HWY_NEON, &N_NEON::kLanes);
#endif
#if HWY_TARGETS & HWY_EMU128
    add_if(HWY_EMU128, &N_EMU128::kLanes);
#endif
#if HWY_TARGETS & HWY_SCALAR
    add_if(HWY_SCALAR, &N_SCALAR::kLanes);
#endif
    return found;
  }();
  return lanes;
}

}  // namespace sextant::oracle
#endif
