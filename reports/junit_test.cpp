// JUnit XML is well-formed whatever it is made of, and says of each verdict what CI must make of it.
#include "sextant/reports/junit.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace sextant {
namespace {

struct Node {
  std::string name, text;
  std::map<std::string, std::string> attributes;
  std::vector<Node> children;
};

/// A strict reader of the XML that JUnit files need: one prolog, elements, attributes in double quotes, the
/// five entities and decimal references. Anything else, and any character that XML 1.0 or UTF-8 forbids,
/// throws.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {
    check_characters(text);
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    space();
  }
  Node document() {
    Node root = element();
    space();
    if (!rest_.empty()) throw std::runtime_error("text after the root");
    return root;
  }

 private:
  static void check_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const auto first = static_cast<unsigned char>(text[i]);
      const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      std::uint32_t code = size == 1 ? first : first & (0x7fu >> size);
      if (first >= 0x80 && (first < 0xc0 || first > 0xf7)) throw std::runtime_error("no UTF-8");
      for (std::size_t k = 1; k < size; ++k) {
        if (i + k >= text.size() || (text[i + k] & 0xc0) != 0x80) throw std::runtime_error("no UTF-8");
        code = code << 6 | (text[i + k] & 0x3fu);
      }
      const std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
      if (code < least[size]) throw std::runtime_error("overlong UTF-8");
      const bool legal = code == 9 || code == 10 || code == 13 || (code >= 0x20 && code < 0xd800) ||
                         (code >= 0xe000 && code < 0xfffe) || (code >= 0x10000 && code < 0x110000);
      if (!legal) throw std::runtime_error("a character that XML forbids");
      i += size;
    }
  }
  void expect(std::string_view token) {
    if (!rest_.starts_with(token))
      throw std::runtime_error(std::string(token).append(" expected at ").append(rest_.substr(0, 40)));
    rest_.remove_prefix(token.size());
  }
  bool skip(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void space() {
    while (skip(" ") || skip("\n")) {
    }
  }
  std::string word() {
    const std::size_t size = std::min(rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), rest_.size());
    if (size == 0) throw std::runtime_error("a name expected");
    const std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  std::string data(char end) {
    std::string text;
    while (!rest_.empty() && rest_[0] != end) {
      if (skip("&amp;")) {
        text += '&';
      } else if (skip("&lt;")) {
        text += '<';
      } else if (skip("&gt;")) {
        text += '>';
      } else if (skip("&quot;")) {
        text += '"';
      } else if (skip("&#9;")) {
        text += '\t';
      } else if (skip("&#10;")) {
        text += '\n';
      } else if (skip("&#13;")) {
        text += '\r';
      } else if (rest_[0] == '&' || rest_[0] == '<' || rest_[0] == '>') {
        throw std::runtime_error("a bare & or < or >");
      } else {
        text += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return text;
  }
  Node element() {
    expect("<");
    Node node;
    node.name = word();
    while (skip(" ")) {
      const std::string key = word();
      expect("=\"");
      if (!node.attributes.emplace(key, data('"')).second) throw std::runtime_error("an attribute twice");
      expect("\"");
    }
    if (skip("/>")) return node;
    expect(">");
    node.text = data('<');
    while (!rest_.starts_with("</")) {
      node.children.push_back(element());
      node.text += data('<');
    }
    expect("</");
    expect(node.name);
    expect(">");
    return node;
  }

  std::string_view rest_;
};

Node read(const std::string& xml) { return Reader(xml).document(); }

VerdictRecord record_of(Verdict verdict) {
  VerdictRecord record;
  record.law = "rope_elementwise";
  record.kernel = "simd/AVX2";
  record.model = "llama-2-7b";
  record.encoding = "rope(dim=128,theta=10000)";
  record.verdict = verdict;
  if (verdict == Verdict::fail) {
    record.witness = Witness{7, 3, "a", 0.25, 0.5};
    record.measure.unit = "pair_ulp";
    record.measure.take(2097152, 2, *record.witness);
    record.replay = "law=rope_elementwise kernel=simd/AVX2 positions=7";
  } else if (verdict != Verdict::pass) {
    record.reason = "because";
  }
  return record;
}

TEST(junit, each_verdict_is_what_ci_must_make_of_it) {
  const std::vector<std::pair<Verdict, std::string>> kinds = {
      {Verdict::fail, "failure"},        {Verdict::crashed, "error"}, {Verdict::mistrusted, "error"},
      {Verdict::undecided, "error"},     {Verdict::pass, ""},         {Verdict::unavailable, "skipped"},
      {Verdict::unsupported, "skipped"},
  };
  sextant::Run run;
  run.seconds = 1.5;
  for (const auto& [verdict, tag] : kinds) run.result.verdicts.push_back(record_of(verdict));
  const Node root = read(to_junit(run));
  ASSERT_EQ(root.name, "testsuites");
  const Node& suite = root.children.at(0);
  EXPECT_EQ(suite.attributes.at("tests"), "8");  // the audit is one more
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  EXPECT_EQ(suite.attributes.at("errors"), "3");
  EXPECT_EQ(suite.attributes.at("skipped"), "2");
  EXPECT_EQ(suite.attributes.at("time"), "1.500");
  ASSERT_EQ(suite.children.size(), 8u);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Node& test = suite.children[i + 1];
    EXPECT_EQ(test.attributes.at("classname"), "simd/AVX2.rope_elementwise");
    EXPECT_EQ(test.attributes.at("name"), "llama-2-7b/rotate/f32");
    ASSERT_EQ(test.children.size(), kinds[i].second.empty() ? 0u : 1u);
    if (!test.children.empty()) {
      EXPECT_EQ(test.children[0].name, kinds[i].second);
    }
  }
  const Node& failure = suite.children[1].children[0];
  EXPECT_EQ(failure.attributes.at("message"), "worst 2097152 pair_ulp, bound 2");
  EXPECT_EQ(failure.text,
            "rope_elementwise on rope(dim=128,theta=10000)\nworst 2097152 pair_ulp, bound 2\n"
            "position 7, pair 3, a: got 0.25, want 0.5\n"
            "sextant replay 'law=rope_elementwise kernel=simd/AVX2 positions=7'");
}

TEST(junit, a_failed_audit_is_an_error) {
  sextant::Run run;
  run.result.audit.worst_share = 2;
  const Node suite = read(to_junit(run)).children.at(0);
  EXPECT_EQ(suite.attributes.at("errors"), "1");
  EXPECT_EQ(suite.children.at(0).children.at(0).name, "error");
}

TEST(junit, a_required_kernel_that_is_missing_is_an_error_and_exit_1) {
  sextant::Run run;
  run.result.verdicts = {record_of(Verdict::pass)};
  EXPECT_EQ(exit_status(run), 0);
  run.missing.push_back({"simd/AVX2", "this CPU lacks AVX2"});
  EXPECT_EQ(exit_status(run), 1);
  const Node suite = read(to_junit(run)).children.at(0);
  EXPECT_EQ(suite.attributes.at("tests"), "3");
  EXPECT_EQ(suite.attributes.at("errors"), "1");
  EXPECT_EQ(suite.children.at(1).children.at(0).attributes.at("message"), "this CPU lacks AVX2");
}

TEST(junit, hostile_names_come_back_or_are_left_out) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"<a href=\"x\">&amp;</a>]]>", "<a href=\"x\">&amp;</a>]]>"},
      {"line\nend\ttab\r", "line\nend\ttab\r"},
      {std::string("nul\0bell\aescape\x1b[31m", 20), "nulbellescape[31m"},
      {"\xc3\xa9\xe2\x88\x9e\xf0\x9d\x84\x9e", "\xc3\xa9\xe2\x88\x9e\xf0\x9d\x84\x9e"},
      {"\xff|\xc3|\xc0\x80|", "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"},
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // a surrogate
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"a\xef\xbf\xbe\xef\xbf\xbf"
       "b",
       "ab"},
      {"'; -- <!-- ${x} %s {}", "'; -- <!-- ${x} %s {}"},
  };
  for (const auto& [name, wanted] : names) {
    sextant::Run run;
    VerdictRecord record = record_of(Verdict::fail);
    record.kernel = record.model.emplace(name);
    record.reason = record.replay = name;
    run.result.verdicts = {record};
    const Node test = read(to_junit(run)).children.at(0).children.at(1);
    EXPECT_EQ(test.attributes.at("classname"), wanted + ".rope_elementwise");
    EXPECT_EQ(test.attributes.at("name"), wanted + "/rotate/f32");
    EXPECT_EQ(test.children.at(0).attributes.at("message"), wanted);
    EXPECT_NE(test.children.at(0).text.find(wanted), std::string::npos);
  }
}

TEST(junit, the_reader_of_this_test_is_strict) {
  const std::string prolog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_EQ(read(prolog + "<a b=\"c\">&lt;</a>").text, "<");
  for (const char* bad : {"<a>", "<a></b>", "<a b=\"<\"/>", "<a>&</a>", "<a b=\"1\" b=\"2\"/>", "<a/><a/>",
                          "<a>\x01</a>", "<a>\xff</a>", "<a>]]></a>", "<a b=c/>", ""}) {
    EXPECT_THROW((void)read(prolog + bad), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace sextant
