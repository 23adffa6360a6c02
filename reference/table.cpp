// Exact tables: intervals for the text and for rounded values, the oracle for float32.
#include "sextant/reference/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sextant/reference/bits.hpp"
#include "sextant/reference/decide.hpp"
#include "sextant/reference/decimal.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/oracle.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

std::string print_nearest(const Real& real, const Format& format) {
  const double value = nearest_of(real, format);
  if (format.precision == 53) return fmt::format("{}", value);
  return fmt::format("{}", static_cast<float>(value));
}

/// Frequencies at the digits in force, computed once for each precision.
class EnclosedFrequencies {
 public:
  EnclosedFrequencies(const Rope& rope, std::int64_t seq_len)
      : compute_([rope, seq_len] { return frequencies<Interval>(rope, seq_len); }) {}
  explicit EnclosedFrequencies(const Sinusoidal& scheme)
      : compute_([scheme] {
          return Frequencies<Interval>{inv_freq<Interval>(scheme), Interval(1)};
        }) {}

  const Frequencies<Interval>& at_working_digits() {
    const unsigned digits = Interval::thread_default_precision();
    for (const auto& [known, value] : known_) {
      if (known == digits) return value;
    }
    known_.emplace_back(digits, compute_());
    return known_.back().second;
  }

 private:
  std::function<Frequencies<Interval>()> compute_;
  std::vector<std::pair<unsigned, Frequencies<Interval>>> known_;
};

bool within_oracle(const Rope& rope, std::int64_t seq_len) {
  return Oracle::serves(exact_frequencies(rope, seq_len).inv_freq);
}

/// Runs of consecutive positions at the oracle's speed; Stored holds the format's bits.
template <class Stored>
RoundedTable produce_table(const Rope& rope, const TableRequest& request,
                           const std::function<void(std::size_t)>& row_done) {
  constexpr std::size_t kLongestRun = 4096;
  const std::vector<std::int64_t>& positions = request.positions;
  const auto pairs = static_cast<std::size_t>(rope.pairs());
  const auto step = static_cast<std::int64_t>(pairs);
  RoundedTable table;
  std::vector<Stored> cos, sin;
  for (std::size_t first = 0; first < positions.size();) {
    std::size_t count = 1;
    while (first + count < positions.size() && count < kLongestRun &&
           positions[first + count] == positions[first] + static_cast<std::int64_t>(count)) {
      ++count;
    }
    const auto rows = static_cast<std::int64_t>(count);
    cos.resize(count * pairs);
    sin.resize(count * pairs);
    const Oracle oracle(rope, request.seq_len, positions[first], positions[first] + rows);
    if (oracle.produce(positions[first], rows, *request.format, {cos.data(), step, 1},
                       {sin.data(), step, 1}) > 0) {
      throw Undecided("a rounding is undecided at the oracle's precision limit");
    }
    const auto append = [&](std::vector<double>& values, const std::vector<Stored>& stored) {
      for (const Stored value : stored) {
        values.push_back(sizeof(Stored) == 4
                             ? static_cast<double>(value)
                             : value_of_bits(static_cast<std::uint32_t>(value), *request.format));
      }
    };
    append(table.cos, cos);
    append(table.sin, sin);
    first += count;
    row_done(first);
  }
  return table;
}

}  // namespace

PrintedTable print_table(const TableRequest& request, const std::function<void(std::size_t)>& row_done) {
  EnclosedFrequencies enclosed(request.rope, request.seq_len);
  const auto print = [&](const Real& real) {
    return request.format ? print_nearest(real, *request.format) : decimal_of(real, request.digits);
  };
  PrintedTable table;
  const auto pairs = static_cast<std::size_t>(request.rope.pairs());
  for (std::size_t i = 0; i < pairs; ++i) {
    table.inv_freq.push_back(print({[&] { return enclosed.at_working_digits().inv_freq[i]; },
                                    [&](const Rational& value) {
                                      return inv_freq_equals(request.rope, request.seq_len,
                                                             static_cast<std::int64_t>(i), value);
                                    }}));
  }
  table.attention_factor =
      print({[&] { return enclosed.at_working_digits().attention_factor; },
             [&](const Rational& value) { return attention_factor_equals(request.rope, value); }});
  for (const std::int64_t position : request.positions) {
    std::vector<std::string> cos_row, sin_row;
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto angle = [&] {
        return Interval(Interval(position) * enclosed.at_working_digits().inv_freq[i]);
      };
      cos_row.push_back(print({[&] { return Interval(cos(angle())); }}));
      sin_row.push_back(print({[&] { return Interval(sin(angle())); }}));
    }
    table.cos.push_back(std::move(cos_row));
    table.sin.push_back(std::move(sin_row));
    row_done(table.cos.size());
  }
  return table;
}

PrintedRows print_rows(const RowsRequest& request, const std::function<void(std::size_t)>& row_done) {
  const Sinusoidal& scheme = request.scheme;
  EnclosedFrequencies enclosed(scheme);
  const auto print = [&](const Real& real) {
    return request.format ? print_nearest(real, *request.format) : decimal_of(real, request.digits);
  };
  PrintedRows printed;
  const auto pairs = static_cast<std::size_t>(sinusoid_pairs(scheme));
  for (std::size_t k = 0; k < pairs; ++k)
    printed.inv_freq.push_back(print({[&] { return enclosed.at_working_digits().inv_freq[k]; },
                                      [&](const Rational& value) {
                                        return inv_freq_equals(scheme, static_cast<std::int64_t>(k), value);
                                      }}));
  for (const std::int64_t position : request.positions) {
    if (!positions_of(scheme).holds(position))
      throw InputError(fmt::format("position {} has no row: positions are {} to {}", position,
                                   positions_of(scheme).first, positions_of(scheme).last));
    std::vector<std::string> row(static_cast<std::size_t>(scheme.dim));
    for (std::size_t k = 0; k < pairs; ++k) {
      const auto pair = static_cast<std::int64_t>(k);
      const SinusoidColumns at = sinusoid_columns(scheme, pair);
      const Interval coordinate(coordinate_of(scheme, axis_of(scheme, pair), position));
      const auto angle = [&] { return Interval(coordinate * enclosed.at_working_digits().inv_freq[k]); };
      row[static_cast<std::size_t>(at.sine)] = print({[&] { return Interval(sin(angle())); }});
      if (at.cosine >= 0)
        row[static_cast<std::size_t>(at.cosine)] = print({[&] { return Interval(cos(angle())); }});
    }
    printed.rows.push_back(std::move(row));
    row_done(printed.rows.size());
  }
  return printed;
}

RoundedTable round_table(const TableRequest& request, bool bare,
                         const std::function<void(std::size_t)>& row_done) {
  const Rope rope = bare ? without_attention_factor(request.rope) : request.rope;
  if (request.format->precision < 53 && within_oracle(rope, request.seq_len)) {
    return request.format->precision == 24 ? produce_table<float>(rope, request, row_done)
                                           : produce_table<std::uint16_t>(rope, request, row_done);
  }
  const auto pairs = static_cast<std::size_t>(rope.pairs());
  RoundedTable table;
  EnclosedFrequencies enclosed(rope, request.seq_len);
  for (std::size_t r = 0; r < request.positions.size(); ++r) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto nearest = [&](bool cosine) {
        return nearest_of(
            Real{[&] {
              const Frequencies<Interval>& f = enclosed.at_working_digits();
              const Interval angle = Interval(request.positions[r]) * f.inv_freq[i];
              return Interval((cosine ? Interval(cos(angle)) : Interval(sin(angle))) * f.attention_factor);
            }},
            *request.format);
      };
      table.cos.push_back(nearest(true));
      table.sin.push_back(nearest(false));
    }
    row_done(r + 1);
  }
  return table;
}

}  // namespace sextant
