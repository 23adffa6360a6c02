// Text from documents made harmless: names and reasons may hold anything.
#pragma once
#include <string>
#include <string_view>

namespace sextant {

/// Character data or an attribute's value of XML 1.0 and HTML, in UTF-8 whatever `text` holds: what XML
/// cannot hold is left out, bytes that are no UTF-8 become U+FFFD, line ends and tabs are references, which
/// no parser normalises.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// Plain text in a line or a table cell of GitHub's Markdown: no markup, mention or end of line.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

/// A fenced block that `text` cannot end.
[[nodiscard]] std::string code_block(std::string_view text);

/// The message of a GitHub log command, or with `property` one of its properties.
[[nodiscard]] std::string annotation_escaped(std::string_view text, bool property);

}  // namespace sextant
