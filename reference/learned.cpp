// Text form and validity of learned tables.
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

void read(Reader& reader, Learned& scheme) {
  scheme.rows = reader.required_integer("rows");
  scheme.dim = reader.required_integer("dim");
  scheme.offset = reader.integer("offset").value_or(0);
}

void print(Printer& printer, const Learned& scheme) {
  printer.add("rows", scheme.rows)
      .add("dim", scheme.dim)
      .add_unless(std::int64_t{0}, "offset", scheme.offset);
}

void check(const Learned& scheme) {
  check_whole("learned: rows", scheme.rows, 1, kMaxPosition);
  check_whole("learned: dim", scheme.dim, 1, kMaxHeadDim);
  check_whole("learned: offset", scheme.offset, 0, scheme.rows - 1);
}

}  // namespace sextant
