#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

TEST(yarn_temperature, truth) {
  const WorkingDigits scope(50);
  const auto factor = [](const char* rest) {
    return frequencies<Interval>(rope_of(std::string("rope(dim=16,theta=10000,scaling=yarn(") + rest + "))"),
                                 1)
        .attention_factor;
  };
  const Interval m4 = Interval(1) + log(Interval(4)) / 10;
  EXPECT_TRUE(meet(factor("factor=4,original=4096"), m4));
  EXPECT_TRUE(meet(factor("factor=1,original=4096"), Interval(1)));
  EXPECT_TRUE(meet(factor("factor=0.5,original=4096"), Interval(1)));
  EXPECT_TRUE(meet(factor("factor=4,original=4096,attention_factor=1.5"), Interval(1.5)));
  EXPECT_TRUE(meet(factor("factor=4,original=4096,mscale=0.5,mscale_all_dim=0.25,attention_factor=1.5"),
                   Interval(1.5)));
  EXPECT_TRUE(meet(factor("factor=4,original=4096,mscale=0.5,mscale_all_dim=0.25"),
                   (Interval(1) + log(Interval(4)) / 20) / (Interval(1) + log(Interval(4)) / 40)));
  EXPECT_TRUE(meet(factor("factor=4,original=4096,mscale=0.5"), m4));
  const Interval equal = factor("factor=4,original=4096,mscale=0.707,mscale_all_dim=0.707");
  EXPECT_TRUE(lower(equal) == 1 && upper(equal) == 1);
  EXPECT_TRUE(meet(factor("original=4096,max_position=16384"), m4));

  // The logit carries A^2.
  const Rope rope = rope_of("rope(dim=16,theta=10000,scaling=yarn(factor=4,original=4096))");
  const Frequencies<Interval> f = frequencies<Interval>(rope, 1);
  std::vector<Interval> q, k;
  for (int i = 0; i < 16; ++i) {
    q.push_back(Interval(i - 3));
    k.push_back(Interval(5 - i));
  }
  EXPECT_TRUE(meet(dot(rotate(rope, f, 321, q), rotate(rope, f, 321, k)), m4 * m4 * dot(q, k), 1e4));
}

TEST(yarn_temperature, kernel) { expect_kept(yarn_temperature()); }

TEST(yarn_temperature, teeth) {
  const std::vector<Rope> yarn = {rope_of("rope(dim=32,theta=10000,scaling=yarn(factor=4,original=4096))")};
  const Law law = yarn_temperature();
  const auto without = misreading([](Rope r) {
    if (auto* y = std::get_if<scaling::Yarn>(&r.scaling)) y->attention_factor = 1;
    return r;
  });
  expect_caught(law, Operation::rotate, without, yarn, "attention factor left out");
  expect_caught(law, Operation::frequencies, without, yarn, "attention factor reported as 1");
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  auto& y = std::get<scaling::Yarn>(r.scaling);
                  y.attention_factor = std::pow(1 + 0.1 * std::log(*y.factor), 2);
                  return r;
                }),
                yarn, "attention factor applied twice");
  Kernel q_only = scalar_kernel();
  q_only.rotate = [right = q_only.rotate, bare = without.rotate](const RotateCall& call) {
    right(call);
    RotateCall k = call;
    k.q = call.k;
    k.q_out = call.k_out;
    k.k = k.k_out = {};
    bare(k);
  };
  expect_caught(law, Operation::rotate, q_only, yarn, "attention factor on q only");
}

}  // namespace
}  // namespace sextant
