// Escaping for XML, Markdown and the log commands of GitHub.
#include "sextant/reports/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sextant {
namespace {

/// Controls that reorder what stands around them (Unicode 15, UAX 9): a name has no use of them but to
/// deceive.
bool reorders(std::string_view character) {
  return (character >= "\xe2\x80\xaa" && character <= "\xe2\x80\xae") ||
         (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

/// Length of the character of UTF-8 at the start of `text`, 0 where there is none (Unicode 15, table 3-7).
std::size_t character_at(std::string_view text) {
  const auto in = [&](std::size_t i, int low, int high) {
    return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
           static_cast<unsigned char>(text[i]) <= high;
  };
  const auto tail = [&](std::size_t i) { return in(i, 0x80, 0xbf); };
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf) && tail(1)) return 2;
  if (in(0, 0xe0, 0xef) && tail(1) && tail(2)) {
    const bool overlong = in(0, 0xe0, 0xe0) && !in(1, 0xa0, 0xbf);
    const bool surrogate = in(0, 0xed, 0xed) && !in(1, 0x80, 0x9f);
    return overlong || surrogate ? 0 : 3;
  }
  if (in(0, 0xf0, 0xf4) && tail(1) && tail(2) && tail(3)) {
    const bool overlong = in(0, 0xf0, 0xf0) && !in(1, 0x90, 0xbf);
    const bool beyond = in(0, 0xf4, 0xf4) && !in(1, 0x80, 0x8f);
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (length == 0 || reorders(character)) {
      xml += "\xef\xbf\xbd";
    } else if (character == "&") {
      xml += "&amp;";
    } else if (character == "<") {
      xml += "&lt;";
    } else if (character == ">") {
      xml += "&gt;";
    } else if (character == "\"") {
      xml += "&quot;";
    } else if (character == "\n" || character == "\t" || character == "\r") {
      xml += fmt::format("&#{};", static_cast<int>(character[0]));
    } else if (static_cast<unsigned char>(character[0]) >= 0x20 && character != "\xef\xbf\xbe" &&
               character != "\xef\xbf\xbf") {
      xml += character;
    }
  }
  return xml;
}

std::string markdown_escaped(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  std::string markdown;
  for (const char c : xml_escaped(line)) {
    if (std::string_view("\\`*_{}[]#|~@").find(c) != std::string_view::npos) {
      markdown += fmt::format("&#{};", static_cast<int>(c));
    } else {
      markdown += c;
    }
  }
  return markdown;
}

std::string code_block(std::string_view text) {
  std::size_t longest = 2, length = 0;
  std::string lines;
  for (const char c : text) {
    length = c == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
    lines += c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) ? c : ' ';
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}sh\n{}\n{}\n", fence, lines, fence);
}

std::string annotation_escaped(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ','))) {
      escaped += fmt::format("%{:02X}", static_cast<int>(c));
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      escaped += ' ';
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace sextant
