// Names that hold markup stay names in Markdown and in GitHub's log. (XML: junit_test.cpp; HTML:
// html_test.cpp.)
#include "sextant/reports/escape.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(escape, markdown_holds_no_markup_of_a_name) {
  const std::string text = markdown_escaped("a|b\n# c `d` [e](http://f) <img> @g *h* \\");
  for (const char* markup : {"|", "\n", "# c", "`", "[", "](", "<img", "@", "*", "\\"})
    EXPECT_EQ(text.find(markup), std::string::npos) << markup << " in " << text;
  EXPECT_EQ(markdown_escaped("llama-3.1-8b, 0.5 ulp"), "llama-3.1-8b, 0.5 ulp");
}

TEST(escape, no_character_reorders_the_text_around_it) {
  EXPECT_EQ(xml_escaped("a\u202eb\u2069c"), "a\ufffdb\ufffdc");
  EXPECT_EQ(xml_escaped("a\u2014b"), "a\u2014b");
}

TEST(escape, a_code_block_ends_where_it_should) {
  EXPECT_EQ(code_block("ls"), "```sh\nls\n```\n");
  EXPECT_EQ(code_block("a\n````\nb"), "`````sh\na\n````\nb\n`````\n");
}

TEST(escape, annotations_are_one_line) {
  EXPECT_EQ(annotation_escaped("100%\n::error::x", false), "100%25%0A::error::x");
  EXPECT_EQ(annotation_escaped("a: b, c", true), "a%3A b%2C c");
  EXPECT_EQ(annotation_escaped("a\x1b[31m", false), "a [31m");
}

}  // namespace
}  // namespace sextant
