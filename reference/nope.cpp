// Text form of no position encoding at all.
#include "sextant/reference/schemes.hpp"

namespace sextant {

void read(text_form::Reader&, Nope&) {}
void print(text_form::Printer&, const Nope&) {}
void check(const Nope&) {}

}  // namespace sextant
