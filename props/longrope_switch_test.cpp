#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(longrope_switch, truth) {
  const WorkingDigits scope(50);
  const Rope rope = rope_of(
      "rope(dim=8,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5,2,3],long=[2,4,8,64.5])"
      ")");
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=8,theta=10000)"), 1);
  const Frequencies<Interval> edge = frequencies<Interval>(rope, 4096);
  const Frequencies<Interval> past = frequencies<Interval>(rope, 4097);
  const double short_factor[] = {1, 1.5, 2, 3};
  const double long_factor[] = {2, 4, 8, 64.5};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_TRUE(meet(edge.inv_freq[k] * Interval(short_factor[k]), plain.inv_freq[k]));
    EXPECT_TRUE(meet(past.inv_freq[k] * Interval(long_factor[k]), plain.inv_freq[k]));
  }
  // A = sqrt(1 + ln 32 / ln 4096) = sqrt(1 + 5/12) on both sides.
  for (const Frequencies<Interval>& f : {edge, past})
    EXPECT_TRUE(meet(f.attention_factor * f.attention_factor, Interval(17) / 12));
}

TEST(longrope_switch, kernel) { expect_kept(longrope_switch()); }

TEST(longrope_switch, teeth) {
  const std::vector<Rope> encodings = {
      rope_of(
          "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5],long=[2,64.5]))"),
      rope_of("rope(dim=16,theta=500000)")};
  const auto caught = [&](const Kernel& kernel, const char* fault) {
    expect_caught(longrope_switch(), Operation::frequencies, kernel, encodings, fault);
  };
  const auto misread = [](const std::function<void(scaling::LongRope&)>& change) {
    return misreading([change](Rope r) {
      if (auto* longrope = std::get_if<scaling::LongRope>(&r.scaling)) change(*longrope);
      return r;
    });
  };
  caught(misread([](scaling::LongRope& l) {
           l.attention_factor = 1.2;
           l.original -= 1;
         }),
         "the switch one early");
  caught(misread([](scaling::LongRope& l) {
           l.attention_factor = 1.2;
           l.original += 1;
         }),
         "the switch one late");
  caught(misread([](scaling::LongRope& l) { std::swap(l.short_factor, l.long_factor); }), "lists swapped");
  caught(misread([](scaling::LongRope& l) { l.long_factor = l.short_factor; }), "the long list never used");
  caught(misread([](scaling::LongRope& l) { l.factor = 1; }), "attention factor left out");
  caught(misread([](scaling::LongRope& l) {
           for (double& divisor : l.long_factor) divisor = 1 / divisor;
         }),
         "a factor in place of a divisor");
  Kernel follows = scalar_kernel();
  follows.frequencies = [right = follows.frequencies](const FrequenciesCall& call) {
    right(call);
    const auto* longrope = std::get_if<scaling::LongRope>(&std::get<Rope>(call.encoding).scaling);
    if (longrope && call.seq_len <= longrope->original) *call.attention_factor.as<float>() = 1;
  };
  caught(follows, "the attention factor follows the switch");
}

}  // namespace
}  // namespace sextant
