#include "sextant/reference/encoding.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

RC_GTEST_PROP(encoding, parse_of_print_is_identity, (const Rope& rope)) {
  const Encoding encoding = rope;
  const std::string text = to_string(encoding);
  RC_ASSERT(parse_encoding(text) == encoding);
  RC_ASSERT(to_string(parse_encoding(text)) == text);
}

TEST(encoding, texts_of_the_interface_print_back) {
  for (const char* text : {
           "rope(dim=128,theta=500000)",
           "rope(head_dim=256,dim=64,theta=10000,pairing=interleaved)",
           "rope(dim=128,theta=10000,scaling=linear(factor=4))",
           "rope(dim=128,theta=10000,scaling=ntk(factor=4))",
           "rope(dim=128,theta=10000,scaling=alpha(alpha=1000))",
           "rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))",
           "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))",
           "rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))",
           "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5],long=[2,64.5]))",
           "rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))",
           "rope(dim=128,theta=10000,direction=-1)",
       }) {
    EXPECT_EQ(to_string(parse_encoding(text)), text);
  }
}

TEST(encoding, any_json_number_and_explicit_defaults_are_read) {
  EXPECT_EQ(to_string(parse_encoding("rope( dim = 64, theta=1e+06, head_dim=64, pairing=half )")),
            "rope(dim=64,theta=1000000)");
  EXPECT_EQ(to_string(parse_encoding("rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,beta_"
                                     "fast=32,beta_slow=1,truncate=true))")),
            "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))");
}

TEST(encoding, bad_text_gives_one_clear_line) {
  const auto message = [](const char* text) -> std::string {
    try {
      const Encoding unused = parse_encoding(text);
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"rope(dim=7,theta=1e4)", "even number"},
      {"rope(dim=0,theta=1e4)", "even number"},
      {"rope(dim=128,theta=-1)", "finite number > 0"},
      {"rope(dim=128,theta=inf)", "finite number > 0"},
      {"rope(dim=128,theta=nan)", "finite number > 0"},
      {"rope(dim=128,theta=four)", "must be a number"},
      {"rope(dim=128)", "needs the key \"theta\""},
      {"rope(dim=128,dim=64,theta=1e4)", "only once"},
      {"rope(dim=131072,theta=1e4)", "65536"},
      {"rope(dim=1e300,theta=1e4)", "whole number"},
      {"rope(head_dim=64,dim=128,theta=1e4)", "head_dim = 64"},
      {"rope(dim=2,theta=1e4,scaling=ntk(factor=2))", "d/(d-2)"},
      {"rope(dim=64,theta=1e4,scaling=linear(factor=0))", "finite number > 0"},
      {"rope(dim=64,theta=1e4,scaling=linear(size=2))", "needs the key \"factor\""},
      {"rope(dim=64,theta=1e4,scaling=linear(factor=2,size=3))", "no key \"size\""},
      {"rope(dim=64,theta=1e4,scaling=lineal(factor=2))", "unknown scaling"},
      {"rope(dim=64,theta=1,scaling=yarn(factor=2,original=10))", "ln(theta)"},
      {"rope(dim=64,theta=1e4,scaling=yarn(factor=2,original=-1))", "length"},
      {"rope(dim=64,theta=1e4,scaling=yarn(original=16))", "needs factor"},
      {"rope(dim=8,theta=1e4,scaling=longrope(original=16,factor=2,short=[1,2],long=[1,2,3,4]))", "needs 4"},
      {"rope(dim=4,theta=1e4,scaling=longrope(original=16,factor=2,short=[1,2],long=[1,-2]))", "long[1]"},
      {"rope(dim=4,theta=1e4,scaling=longrope(original=1,factor=2,short=[1,2],long=[1,2]))", "ln(original)"},
      {"rope(dim=4,theta=1e4,scaling=proportional(fraction=2))", "(0, 1]"},
      {"alibi(heads=12)", "unknown scheme"},
      {"rope", "name(key=value,...)"},
      {"rope(dim=4,theta=1e4", "\",\" or \")\""},
      {"rope(dim=4,theta=1e4))", "nothing after"},
      {"rope(dim=4,theta=a(b=c(d=e(f=g(h=1)))))", "fewer nested"},
  };
  for (const auto& [text, wanted] : cases) {
    const std::string line = message(text);
    EXPECT_NE(line.find(wanted), std::string::npos) << text << " -> " << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

RC_GTEST_PROP(encoding, any_text_parses_or_is_refused, (std::string text)) {
  try {
    const Encoding unused = parse_encoding(text);
  } catch (const InputError&) {
  }
}

RC_GTEST_PROP(encoding, damaged_text_parses_or_is_refused, (const Rope& rope)) {
  std::string text = to_string(Encoding(rope));
  for (int edits = *uniform(1, 4); edits > 0; --edits) {
    const auto at = *uniform<std::size_t>(0, text.size());
    text[at] = *rc::gen::element('(', ')', ',', '=', '[', ']', '0', '-', 'e', '\0');
  }
  try {
    const Encoding unused = parse_encoding(text);
  } catch (const InputError&) {
  }
}

TEST(encoding, pair_channels_are_a_permutation) {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved, Pairing::deinterleave}) {
    std::vector<int> read(10), written(10);
    for (std::int64_t i = 0; i < 5; ++i) {
      const PairChannels at = pair_channels(pairing, 10, i);
      for (const std::int64_t channel : {at.in_a, at.in_b}) ++read[static_cast<std::size_t>(channel)];
      for (const std::int64_t channel : {at.out_a, at.out_b}) ++written[static_cast<std::size_t>(channel)];
    }
    EXPECT_EQ(read, std::vector<int>(10, 1));
    EXPECT_EQ(written, std::vector<int>(10, 1));
  }
}

}  // namespace
}  // namespace sextant
