// Printing of exact tables: intervals for the text, double-doubles with a Ziv test for rounded tables.
#include "sextant/reference/table.hpp"

#include <fmt/format.h>

#include "sextant/reference/decimal.hpp"
#include "sextant/reference/rope.hpp"
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
  EnclosedFrequencies(const Rope& rope, std::int64_t seq_len) : rope_(rope), seq_len_(seq_len) {}

  const Frequencies<Interval>& at_working_digits() {
    const unsigned digits = Interval::thread_default_precision();
    for (const auto& [known, value] : known_) {
      if (known == digits) return value;
    }
    known_.emplace_back(digits, frequencies<Interval>(rope_, seq_len_));
    return known_.back().second;
  }

 private:
  Rope rope_;
  std::int64_t seq_len_;
  std::vector<std::pair<unsigned, Frequencies<Interval>>> known_;
};

/// Rounding of hi + lo + error, |error| <= 2^-100 |hi|, or nothing where a rounding boundary is that near.
std::optional<double> sure_nearest(const Wide& value, const Format& format) {
  if (format.precision == 53) {
    if (std::fabs(value.lo) < ulp_of(value.hi, format) * 0.499) return value.hi;
    return std::nullopt;
  }
  const double low = round_to(value.hi * (1 - 0x1p-50), format);
  return low == round_to(value.hi * (1 + 0x1p-50), format) ? std::optional(low) : std::nullopt;
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

RoundedTable round_table(const TableRequest& request, bool bare,
                         const std::function<void(std::size_t)>& row_done) {
  ExactRows rows(request.rope, request.seq_len, bare);
  EnclosedFrequencies enclosed(request.rope, request.seq_len);
  const Format& format = *request.format;
  RoundedTable table;
  const auto pairs = static_cast<std::size_t>(request.rope.pairs());
  for (std::size_t r = 0; r < request.positions.size(); ++r) {
    const std::int64_t position = request.positions[r];
    const auto nearest = [&](const Wide& value, std::size_t pair, bool cosine) {
      if (const std::optional<double> sure = sure_nearest(value, format)) return *sure;
      return nearest_of(Real{[&] {
                          const Frequencies<Interval>& f = enclosed.at_working_digits();
                          const Interval angle = Interval(position) * f.inv_freq[pair];
                          const Interval function = cosine ? Interval(cos(angle)) : Interval(sin(angle));
                          return bare ? function : Interval(function * f.attention_factor);
                        }},
                        format);
    };
    const ExactRow row = rows.take(position);
    for (std::size_t i = 0; i < pairs; ++i) {
      table.cos.push_back(nearest(row.cos[i], i, true));
      table.sin.push_back(nearest(row.sin[i], i, false));
    }
    row_done(r + 1);
  }
  return table;
}

}  // namespace sextant
