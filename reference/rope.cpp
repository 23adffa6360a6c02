// Dispatch from a RoPE encoding to the definition of its scaling; tables and rotation over any number type.
#include "sextant/reference/rope.hpp"

#include "sextant/reference/rope/schemes.hpp"

namespace sextant {

template <class Real>
Frequencies<Real> frequencies(const Rope& rope, std::int64_t seq_len) {
  return std::visit([&](const auto& scaling) { return frequencies_of<Real>(rope, scaling, seq_len); },
                    rope.scaling);
}

template <class Real>
TableRow<Real> table_row(const Frequencies<Real>& frequencies, std::int64_t position, TableForm form) {
  using std::cos;
  using std::sin;
  const auto pairs = static_cast<std::int64_t>(frequencies.inv_freq.size());
  TableRow<Real> row;
  row.cos.resize(static_cast<std::size_t>(row_width(form, pairs)), Real(0));
  if (!holds_both(form)) row.sin.resize(row.cos.size(), Real(0));
  std::vector<Real>& sin_row = holds_both(form) ? row.cos : row.sin;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const Real angle = Real(position) * frequencies.inv_freq[static_cast<std::size_t>(i)];
    const Real c = cos(angle) * frequencies.attention_factor;
    const Real s = sin(angle) * frequencies.attention_factor;
    const TableSlots slots = table_slots(form, pairs, i);
    for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
      row.cos[static_cast<std::size_t>(slots.cos + copy * slots.copy_step)] = c;
      sin_row[static_cast<std::size_t>(slots.sin + copy * slots.copy_step)] = s;
    }
  }
  return row;
}

template <class Real>
std::vector<Real> rotate(const Rope& rope, const Frequencies<Real>& frequencies, std::int64_t position,
                         const std::vector<Real>& x) {
  const TableRow<Real> row = table_row(frequencies, position, TableForm::half);
  std::vector<Real> y = x;
  for (std::int64_t i = 0; i < rope.pairs(); ++i) {
    const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
    const auto k = static_cast<std::size_t>(i);
    const Real s = rope.direction < 0 ? Real(-row.sin[k]) : row.sin[k];
    const Pair<Real> rotated = rotate_pair(x[static_cast<std::size_t>(at.in_a)],
                                           x[static_cast<std::size_t>(at.in_b)], row.cos[k], s);
    y[static_cast<std::size_t>(at.out_a)] = rotated.a;
    y[static_cast<std::size_t>(at.out_b)] = rotated.b;
  }
  return y;
}

#define SEXTANT_INSTANTIATE_ROPE(REAL)                                                   \
  template Frequencies<REAL> frequencies(const Rope&, std::int64_t);                     \
  template TableRow<REAL> table_row(const Frequencies<REAL>&, std::int64_t, TableForm);  \
  template std::vector<REAL> rotate(const Rope&, const Frequencies<REAL>&, std::int64_t, \
                                    const std::vector<REAL>&)

SEXTANT_INSTANTIATE_ROPE(float);
SEXTANT_INSTANTIATE_ROPE(double);
SEXTANT_INSTANTIATE_ROPE(Mpfr);
SEXTANT_INSTANTIATE_ROPE(Interval);
SEXTANT_INSTANTIATE_ROPE(Bin100);
template Frequencies<Rounded<24>> frequencies(const Rope&, std::int64_t);

std::string_view to_string(TableForm form) {
  switch (form) {
    case TableForm::half:
      return "half";
    case TableForm::duplicated:
      return "duplicated";
    case TableForm::repeated:
      return "repeated";
    case TableForm::half_half:
      return "half_half";
    case TableForm::polar:
      return "polar";
  }
  return "?";
}

}  // namespace sextant
