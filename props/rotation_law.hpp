// What the laws of rotation share: walking over heads, pairs as complex numbers, comparing two results.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sextant/fixtures/element.hpp"
#include "sextant/props/call.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {

/// body(batch, token, head) for every head of a tensor.
template <class Body>
void each_head(const Heads& heads, Body body) {
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t s = 0; s < heads.tokens; ++s) {
      for (std::int64_t h = 0; h < heads.heads; ++h) body(b, s, h);
    }
  }
}

struct HeadIndex {
  std::int64_t b, s, h;
};
/// A tensor of other extents with the inputs of `from`: head (b, s, h) is that of source(b, s, h).
template <class Source>
[[nodiscard]] Heads gathered(const Heads& from, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                             Source source) {
  const auto size = static_cast<std::size_t>(batch * tokens * heads * from.channels);
  Heads to{batch,     tokens, heads, from.channels, std::vector<float>(size), std::vector<float>(size, NAN),
           from.dtype};
  each_head(to, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
    const HeadIndex at = source(b, s, h);
    std::memcpy(to.in_head(b, s, h), from.in_head(at.b, at.s, at.h),
                static_cast<std::size_t>(from.channels) * sizeof(float));
  });
  return to;
}

/// A rotated pair as it stands in a kernel's output.
[[nodiscard]] inline Pair<Wide> output_pair(const Rope& rope, std::int64_t pair, const float* y) {
  const PairChannels at = pair_channels(rope.pairing, rope.dim, pair);
  return {y[at.out_a], y[at.out_b]};
}
/// A cos and A sin of a row of a kernel's table.
[[nodiscard]] inline Pair<Wide> table_pair(const KernelTables& tables, const Rope& rope, std::int64_t row,
                                           std::int64_t pair) {
  const TableSlots slots = table_slots(tables.form, rope.pairs(), pair);
  return {tables.cos[static_cast<std::size_t>(row * tables.width + slots.cos)],
          tables.sin_table()[static_cast<std::size_t>(row * tables.width + slots.sin)]};
}
/// The truth of every position, correctly rounded, in a form.
[[nodiscard]] inline KernelTables rounded_tables(const Rope& rope, ExactRows& rows,
                                                 const std::vector<std::int64_t>& positions, TableForm form,
                                                 DType dtype) {
  const std::int64_t width = row_width(form, rope.pairs());
  const std::size_t size = positions.size() * static_cast<std::size_t>(width);
  KernelTables tables{form, width, std::vector<float>(size), std::vector<float>(holds_both(form) ? 0 : size),
                      dtype};
  std::vector<float>& sin = holds_both(form) ? tables.cos : tables.sin;
  const auto rounded = [&](const Wide& value) {
    return static_cast<float>(round_to(value.value(), format_of(dtype)));
  };
  for (std::size_t s = 0; s < positions.size(); ++s) {
    const ExactRow& row = rows.at(positions[s]);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const TableSlots slots = table_slots(form, rope.pairs(), i);
      const auto k = static_cast<std::size_t>(i);
      for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
        const std::int64_t at = static_cast<std::int64_t>(s) * width + copy * slots.copy_step;
        tables.cos[static_cast<std::size_t>(at + slots.cos)] = rounded(row.cos[k]);
        sin[static_cast<std::size_t>(at + slots.sin)] = rounded(row.sin[k]);
      }
    }
  }
  return tables;
}

[[nodiscard]] inline Pair<Wide> operator*(const Wide& factor, const Pair<Wide>& x) {
  return {factor * x.a, factor * x.b};
}
[[nodiscard]] inline Pair<Wide> operator+(const Pair<Wide>& x, const Pair<Wide>& y) {
  return {x.a + y.a, x.b + y.b};
}
/// |x - y| as complex numbers; infinite where either is not finite.
[[nodiscard]] inline double distance(const Pair<Wide>& x, const Pair<Wide>& y) {
  const double d = std::hypot((x.a - y.a).value(), (x.b - y.b).value());
  return std::isfinite(d) ? d : INFINITY;
}
/// The unit of pair_ulp: u times the pair norm, at least half a subnormal.
[[nodiscard]] inline double pair_unit(double norm, const Format& format) {
  return std::max(format.unit_roundoff() * norm, format.least_subnormal() / 2);
}

/// A rotated pair in a kernel's output against its truth, in pair_ulp.
inline void judge_pair(const PairTruth& truth, const Bounds& bounds, std::int64_t position, std::int64_t pair,
                       float got_a, float got_b, Measure& measure) {
  const double unit = pair_unit(truth.norm, bounds.output());
  const auto judge = [&](double got, const Wide& want, const Wide& partner, double arithmetic,
                         const char* function) {
    const ElementBound bound =
        bounds.rotated(truth.at, arithmetic, want.value(), partner.value(), truth.norm);
    if (!bound.claim || truth.norm > bounds.largest_norm()) return measure.skip();
    measure.take(pair_ulp(got, want, truth.norm, bounds.output()),
                 truth.norm == 0 ? 0 : bound.absolute / unit, {position, pair, function, got, want.value()});
  };
  judge(got_a, truth.y_a, truth.y_b, truth.arithmetic_a, "a");
  judge(got_b, truth.y_b, truth.y_a, truth.arithmetic_b, "b");
}
/// Channels past the rotary width are copied bit for bit.
inline void judge_tail(const Rope& rope, std::int64_t position, const float* x, const float* y,
                       Measure& measure) {
  for (std::int64_t channel = rope.dim; channel < rope.head_dim; ++channel) {
    const bool same = std::memcmp(x + channel, y + channel, sizeof(float)) == 0;
    measure.take(same ? 0 : INFINITY, 0, {position, channel, "tail", y[channel], x[channel]});
  }
}

/// A value that only a copy keeps, in the case's dtype: NaN with a payload, quiet and signalling, -0,
/// infinity, subnormals.
[[nodiscard]] inline float special_value(const Case& c, std::int64_t index) {
  constexpr std::uint32_t kBits[] = {0x7fc01234, 0x7f800001, 0xffc0dead, 0x80000000, 0x7f800000,
                                     0xff800000, 0x00000001, 0x807fffff, 0xff923456};
  constexpr std::uint32_t kHalf[] = {0x7e12, 0x7c01, 0xfead, 0x8000, 0x7c00, 0xfc00, 0x0001, 0x83ff, 0xfd45};
  constexpr std::uint32_t kBrain[] = {0x7fc2, 0x7f81, 0xffd5, 0x8000, 0x7f80, 0xff80, 0x0001, 0x807f, 0xff92};
  const std::size_t drawn = scatter(c.seed ^ static_cast<std::uint64_t>(index)) % std::size(kBits);
  return value_in(c.dtype, c.dtype == DType::f16    ? kHalf[drawn]
                           : c.dtype == DType::bf16 ? kBrain[drawn]
                                                    : kBits[drawn]);
}
[[nodiscard]] inline bool same_bits(float x, float y) { return std::memcmp(&x, &y, sizeof(float)) == 0; }

/// One head rotated by a row of given tables, against the exact rotation by those numbers: pairs within the
/// contract's arithmetic, the tail bit for bit.
inline void judge_given(const Rope& rope, const KernelTables& tables, std::int64_t row, const Bounds& bounds,
                        std::int64_t position, const float* x, const float* y, Measure& measure) {
  for (std::int64_t i = 0; i < rope.pairs(); ++i) {
    const PairTruth truth =
        given_truth(rope, table_pair(tables, rope, row, i), format_of(tables.dtype), bounds, i, x);
    const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
    judge_pair(truth, bounds, position, i, y[at.out_a], y[at.out_b], measure);
  }
  judge_tail(rope, position, x, y, measure);
}

/// Collects the comparison of two results for the same head at the same position: equal bits where the
/// contract claims them, else within the sum of both sides' bounds. Channels past the rotary width always
/// agree bit for bit.
class SameRotation {
 public:
  explicit SameRotation(const Trial& trial)
      : rope_(std::get<Rope>(*trial.c.encoding)),
        bits_(trial.contract.bits_exact),
        rows_(trial.truths.rows(rope_, trial.c.seq_len)),
        bounds_(trial.truths.bounds(trial.contract, rope_, trial.c.seq_len)) {
    measure_.unit = bits_ ? "count" : "pair_ulp";
  }

  void judge(std::int64_t position, const float* x, const float* got, const float* want) {
    for (std::int64_t i = 0; i < rope_.pairs(); ++i) {
      const PairChannels at = pair_channels(rope_.pairing, rope_.dim, i);
      if (bits_) {
        take_bits(position, i, "a", got[at.out_a], want[at.out_a]);
        take_bits(position, i, "b", got[at.out_b], want[at.out_b]);
        continue;
      }
      const PairTruth truth = pair_truth(rope_, rows_.at(position), bounds_, position, i, x);
      const auto take = [&](std::int64_t channel, const Wide& y, const Wide& partner, double arithmetic,
                            const char* function) {
        const ElementBound bound =
            bounds_.rotated(truth.at, arithmetic, y.value(), partner.value(), truth.norm);
        if (!bound.claim || truth.norm > bounds_.largest_norm()) return measure_.skip();
        const double unit = pair_unit(truth.norm, bounds_.output());
        const double error = std::fabs(double{got[channel]} - double{want[channel]});
        measure_.take(std::isfinite(error) ? error / unit : INFINITY,
                      truth.norm == 0 ? 0 : 2 * bound.absolute / unit,
                      {position, i, function, got[channel], want[channel]});
      };
      take(at.out_a, truth.y_a, truth.y_b, truth.arithmetic_a, "a");
      take(at.out_b, truth.y_b, truth.y_a, truth.arithmetic_b, "b");
    }
    for (std::int64_t channel = rope_.dim; channel < rope_.head_dim; ++channel)
      take_bits(position, channel, "tail", got[channel], want[channel]);
  }

  [[nodiscard]] Outcome outcome() { return judged(std::move(measure_)); }

 private:
  void take_bits(std::int64_t position, std::int64_t index, const char* function, float got, float want) {
    measure_.take(same_bits(got, want) ? 0 : INFINITY, 0, {position, index, function, got, want});
  }

  const Rope& rope_;
  bool bits_;
  ExactRows& rows_;
  const Bounds& bounds_;
  Measure measure_;
};

}  // namespace sextant
