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
           "sinusoidal(dim=512)",
           "sinusoidal(dim=513,base=100,layout=A')",
           "sinusoidal(dim=256,layout=H,grid_rows=20,grid_columns=30)",
           "learned(rows=1026,dim=768,offset=2)",
           "shaw(left=64,right=8)",
           "shaw(left=16,right=16,values=false)",
           "transformer_xl(dim=768)",
           "transformer_xl(dim=512,clamp=400,form=conformer)",
           "t5(buckets=32,max_distance=128,bidirectional=true)",
           "deberta(buckets=256,max_position=512)",
           "deberta(max_position=512)",
           "alibi(heads=12)",
           "alibi(heads=32,bias_max=10,form=falcon,head_dim=64)",
           "nope()",
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
  EXPECT_EQ(to_string(parse_encoding("alibi(heads=12,bias_max=8,form=relative)")), "alibi(heads=12)");
  EXPECT_EQ(to_string(parse_encoding("sinusoidal(dim=512,base=10000,layout=C)")), "sinusoidal(dim=512)");
  EXPECT_EQ(to_string(parse_encoding("sinusoidal(dim=512,layout=E)")), "sinusoidal(dim=512,layout=B)");
  EXPECT_EQ(to_string(parse_encoding("learned(rows=8,dim=4,offset=0)")), "learned(rows=8,dim=4)");
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
      {"alib(heads=12)", "unknown scheme"},
      {"alibi()", "needs the key \"heads\""},
      {"alibi(heads=0)", "from 1 to 65536"},
      {"alibi(heads=8,bias_max=0)", "finite number > 0"},
      {"alibi(heads=8,form=mpt)", "must be one of relative"},
      {"alibi(heads=8,form=falcon)", "alibi: head_dim is 0"},
      {"alibi(heads=8,head_dim=64)", "falcon alone"},
      {"t5(buckets=0,max_distance=128,bidirectional=false)", "from 1 to"},
      {"t5(buckets=33)", "even number"},
      {"t5(buckets=2)", "use 4 or more"},
      {"t5(buckets=32,max_distance=8)", "use more than 8"},
      {"t5(buckets=32,max_distance=16,bidirectional=false)", "use more than 16"},
      {"t5(bidirectional=maybe)", "true, false"},
      {"deberta(buckets=0)", "from 4 to"},
      {"deberta(buckets=256,max_position=129)", "use more than 129"},
      {"sinusoidal(dim=0)", "from 1 to 65536"},
      {"sinusoidal(dim=3,layout=A)", "use dim >= 4"},
      {"sinusoidal(dim=6,layout=G,grid_columns=4)", "multiple of 4"},
      {"sinusoidal(dim=8,layout=G)", "grid_columns is 0"},
      {"sinusoidal(dim=8,grid_columns=4)", "layouts G and H alone"},
      {"sinusoidal(dim=8,layout=Z)", "must be one of A"},
      {"learned(rows=0,dim=4)", "from 1 to"},
      {"learned(rows=4,dim=4,offset=4)", "from 0 to 3"},
      {"shaw(left=-1,right=8)", "from 0 to"},
      {"transformer_xl(dim=7)", "even width"},
      {"nope(dim=4)", "no key \"dim\""},
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
