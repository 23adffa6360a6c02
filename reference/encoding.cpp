// Text form and validity of encodings: the dispatch over schemes.
#include "sextant/reference/encoding.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "sextant/reference/schemes.hpp"

namespace sextant {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<Encoding>> kSchemes = {
    "rope", "sinusoidal", "learned", "shaw", "transformer_xl", "t5", "deberta", "alibi", "nope"};

template <std::size_t... Index>
Encoding scheme_named(std::string_view name, std::index_sequence<Index...>) {
  Encoding encoding;
  const bool known = ((kSchemes[Index] == name && (encoding.emplace<Index>(), true)) || ...);
  if (known) return encoding;
  throw InputError(fmt::format("unknown scheme \"{}\": known are {}", text_form::shorten(name),
                               fmt::join(kSchemes, ", ")));
}

}  // namespace

std::string_view scheme_name(const Encoding& encoding) { return kSchemes[encoding.index()]; }

void validate(const Encoding& encoding) {
  std::visit([](const auto& scheme) { check(scheme); }, encoding);
}

bool depends_on_length(const Encoding& encoding) {
  const Rope* rope = std::get_if<Rope>(&encoding);
  return rope && (std::holds_alternative<scaling::Dynamic>(rope->scaling) ||
                  std::holds_alternative<scaling::LongRope>(rope->scaling));
}

std::string to_string(const Encoding& encoding) {
  text_form::Printer printer(scheme_name(encoding));
  std::visit([&](const auto& scheme) { print(printer, scheme); }, encoding);
  return printer.done();
}

Encoding parse_encoding(std::string_view text) {
  const text_form::Node node = text_form::parse(text);
  Encoding encoding = scheme_named(node.word, std::make_index_sequence<std::variant_size_v<Encoding>>());
  text_form::Reader reader(node, node.word);
  std::visit([&](auto& scheme) { read(reader, scheme); }, encoding);
  reader.finish();
  validate(encoding);
  return encoding;
}

bool looks_like_encoding(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

}  // namespace sextant
