// Text form and validity of Shaw's relative terms.
#include "sextant/reference/shaw.hpp"

#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

constexpr std::int64_t kMaxClip = std::int64_t{1} << 20;

}  // namespace

void read(Reader& reader, Shaw& scheme) {
  scheme.left = reader.required_integer("left");
  scheme.right = reader.required_integer("right");
  scheme.values = reader.flag("values").value_or(true);
}

void print(Printer& printer, const Shaw& scheme) {
  printer.add("left", scheme.left).add("right", scheme.right);
  if (!scheme.values) printer.add("values", std::string("false"));
}

void check(const Shaw& scheme) {
  check_whole("shaw: left", scheme.left, 0, kMaxClip);
  check_whole("shaw: right", scheme.right, 0, kMaxClip);
}

}  // namespace sextant
