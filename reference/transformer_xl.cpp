// Text form and validity of Transformer-XL's relative terms.
#include "sextant/reference/transformer_xl.hpp"

#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

void read(Reader& reader, TransformerXl& scheme) {
  using Form = TransformerXl::Form;
  scheme.dim = reader.required_integer("dim");
  scheme.clamp = reader.integer("clamp").value_or(-1);
  scheme.form = reader.one_of<Form>("form", {{"xlnet", Form::xlnet}, {"conformer", Form::conformer}})
                    .value_or(Form::xlnet);
}

void print(Printer& printer, const TransformerXl& scheme) {
  printer.add("dim", scheme.dim).add_unless(std::int64_t{-1}, "clamp", scheme.clamp);
  if (scheme.form == TransformerXl::Form::conformer) printer.add("form", std::string("conformer"));
}

void check(const TransformerXl& scheme) {
  check_whole("transformer_xl: dim", scheme.dim, 2, kMaxHeadDim);
  if (scheme.dim % 2 != 0)
    throw InputError(fmt::format("transformer_xl: dim is {}; an even width is needed", scheme.dim));
  if (scheme.clamp != -1) check_whole("transformer_xl: clamp", scheme.clamp, 1, kMaxPosition);
}

}  // namespace sextant
