// Text form and validity of sinusoidal embeddings.
#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

using Layout = Sinusoidal::Layout;

constexpr std::int64_t kMaxGrid = std::int64_t{1} << 20;

}  // namespace

void read(Reader& reader, Sinusoidal& scheme) {
  scheme.dim = reader.required_integer("dim");
  scheme.base = reader.number("base").value_or(10000);
  // D (GPT-J) and E (CTRL) have the numbers and the order of B.
  scheme.layout = reader
                      .one_of<Layout>("layout", {{"A", Layout::A},
                                                 {"A'", Layout::A_cos},
                                                 {"B", Layout::B},
                                                 {"C", Layout::C},
                                                 {"D", Layout::B},
                                                 {"E", Layout::B},
                                                 {"F", Layout::F},
                                                 {"G", Layout::G},
                                                 {"H", Layout::H}})
                      .value_or(Layout::C);
  scheme.grid_rows = reader.integer("grid_rows").value_or(0);
  scheme.grid_columns = reader.integer("grid_columns").value_or(0);
}

void print(Printer& printer, const Sinusoidal& scheme) {
  constexpr const char* kNames[] = {"A", "A'", "B", "C", "F", "G", "H"};
  printer.add("dim", scheme.dim).add_unless(10000.0, "base", scheme.base);
  if (scheme.layout != Layout::C)
    printer.add("layout", std::string(kNames[static_cast<std::size_t>(scheme.layout)]));
  printer.add_unless(std::int64_t{0}, "grid_rows", scheme.grid_rows)
      .add_unless(std::int64_t{0}, "grid_columns", scheme.grid_columns);
}

void check(const Sinusoidal& scheme) {
  check_whole("sinusoidal: dim", scheme.dim, 1, kMaxHeadDim);
  check_factor("sinusoidal: base", scheme.base);
  const bool by_last = scheme.layout == Layout::A || scheme.layout == Layout::A_cos;
  if (by_last && scheme.dim < 4)
    throw InputError(fmt::format(
        "sinusoidal: dim={} has no layout A, the exponent i/(dim/2 - 1) divides by zero; use dim >= 4",
        scheme.dim));
  const bool two_axes = scheme.layout == Layout::G || scheme.layout == Layout::H;
  if (two_axes && scheme.dim % 4 != 0)
    throw InputError(fmt::format("sinusoidal: dim is {}; layouts G and H need a multiple of 4", scheme.dim));
  if (two_axes) check_whole("sinusoidal: grid_columns", scheme.grid_columns, 1, kMaxGrid);
  if (scheme.layout == Layout::H) check_whole("sinusoidal: grid_rows", scheme.grid_rows, 1, kMaxGrid);
  if (scheme.layout != Layout::H && scheme.grid_rows != 0)
    throw InputError("sinusoidal: grid_rows is of layout H alone");
  if (!two_axes && scheme.grid_columns != 0)
    throw InputError("sinusoidal: grid_columns is of layouts G and H alone");
}

}  // namespace sextant
