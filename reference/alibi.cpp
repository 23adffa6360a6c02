// Text form and validity of ALiBi.
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

using Form = Alibi::Form;

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
  if (scheme.form == Form::falcon) check_whole("alibi: head_dim", scheme.head_dim, 1, kMaxHeadDim);
  if (scheme.form != Form::falcon && scheme.head_dim != 0)
    throw InputError("alibi: head_dim is of form=falcon alone");
}

}  // namespace sextant
