// Text form and validity of ALiBi, and its slopes to the last digit.
#include "sextant/reference/alibi.hpp"

#include "sextant/reference/decimal.hpp"
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

using Form = Alibi::Form;

constexpr double kMaxBias = 0x1p20;  ///< past it a first slope underflows every format of every kind

/// A slope that is no power of two is irrational.
Real exact_slope(const Alibi& alibi, std::int64_t head) {
  Real real;
  real.enclose = [=] { return slope<Interval>(alibi, head); };
  const std::optional<int> whole = whole_exponent(alibi.bias_max, slope_exponent(alibi.heads, head));
  if (whole) real.equals = [=](const Rational& value) { return value * (mp::mpz_int(1) << *whole) == 1; };
  return real;
}

}  // namespace

void read(Reader& reader, Alibi& scheme) {
  scheme.heads = reader.required_integer("heads");
  scheme.bias_max = reader.number("bias_max").value_or(8);
  scheme.form = reader
                    .one_of<Form>("form", {{"relative", Form::relative},
                                           {"symmetric", Form::symmetric},
                                           {"key", Form::key},
                                           {"last_key", Form::last_key},
                                           {"falcon", Form::falcon},
                                           {"sqrt", Form::sqrt}})
                    .value_or(Form::relative);
  scheme.head_dim = reader.integer("head_dim").value_or(0);
}

void print(Printer& printer, const Alibi& scheme) {
  constexpr const char* kNames[] = {"relative", "symmetric", "key", "last_key", "falcon", "sqrt"};
  printer.add("heads", scheme.heads).add_unless(8.0, "bias_max", scheme.bias_max);
  if (scheme.form != Form::relative)
    printer.add("form", std::string(kNames[static_cast<std::size_t>(scheme.form)]));
  printer.add_unless(std::int64_t{0}, "head_dim", scheme.head_dim);
}

void check(const Alibi& scheme) {
  check_whole("alibi: heads", scheme.heads, 1, kMaxHeads);
  check_factor("alibi: bias_max", scheme.bias_max);
  if (scheme.bias_max > kMaxBias)
    throw InputError(fmt::format("alibi: bias_max is {}; {} is the most", scheme.bias_max, kMaxBias));
  if (scheme.form == Form::falcon) check_whole("alibi: head_dim", scheme.head_dim, 1, kMaxHeadDim);
  if (scheme.form != Form::falcon && scheme.head_dim != 0)
    throw InputError("alibi: head_dim is of form=falcon alone");
}

std::optional<int> whole_exponent(double bias_max, const SlopeExponent& exponent) {
  const Rational whole = Rational(bias_max) * exponent.numerator / exponent.denominator;
  if (denominator(whole) != 1) return std::nullopt;
  return numerator(whole).convert_to<int>();
}

std::string printed_slope(const Alibi& alibi, std::int64_t head, unsigned digits) {
  return decimal_of(exact_slope(alibi, head), digits);
}

double nearest_slope(const Alibi& alibi, std::int64_t head, const Format& format) {
  return nearest_of(exact_slope(alibi, head), format);
}

}  // namespace sextant
