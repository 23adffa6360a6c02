#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

Frequencies<Interval> ntk(double factor, const char* width = "16") {
  return frequencies<Interval>(rope_of(std::string("rope(dim=") + width +
                                       ",theta=10000,scaling=ntk(factor=" + std::to_string(factor) + "))"),
                               1);
}

TEST(ntk_frequency_ratios, truth) {
  const WorkingDigits scope(50);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=16,theta=10000)"), 1);
  const Frequencies<Interval> scaled = ntk(4);
  for (int k = 0; k < 8; ++k) {
    const Interval ratio =
        scaled.inv_freq[static_cast<std::size_t>(k)] / plain.inv_freq[static_cast<std::size_t>(k)];
    EXPECT_TRUE(meet(ratio, pow(Interval(4), Interval(-2 * k) / 14)));
  }
  EXPECT_TRUE(meet(scaled.inv_freq[0], Interval(1)));
  EXPECT_TRUE(meet(scaled.inv_freq[7] * 4, plain.inv_freq[7]));
  // s = 1 is the identity, and s1 then s2 is s1 s2: the base's factors multiply.
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_TRUE(meet(ntk(1).inv_freq[k], plain.inv_freq[k]));
    EXPECT_TRUE(meet(ntk(2).inv_freq[k] * ntk(3).inv_freq[k], ntk(6).inv_freq[k] * plain.inv_freq[k]));
  }
  // d = 128, base 10000, s = 4: base' = 40889.942432...
  const Interval base = Interval(10000) * pow(Interval(4), Interval(128) / 126);
  EXPECT_TRUE(lower(base) > Mpfr("40889.942432") && upper(base) < Mpfr("40889.942433"));
}

TEST(ntk_frequency_ratios, kernel) { expect_kept(ntk_frequency_ratios()); }

TEST(ntk_frequency_ratios, teeth) {
  const std::vector<Rope> plain = {rope_of("rope(head_dim=32,dim=16,theta=10000)")};
  const auto wrong_base = [](double (*exponent)(const Rope&)) {
    return misreading([exponent](Rope r) {
      if (const auto* ntk = std::get_if<scaling::Ntk>(&r.scaling)) {
        r.theta *= std::pow(ntk->factor, exponent(r));
        r.scaling = scaling::None{};
      }
      return r;
    });
  };
  const Law law = ntk_frequency_ratios();
  expect_caught(law, Operation::frequencies, wrong_base([](const Rope&) { return 1.0; }), plain,
                "exponent 1");
  expect_caught(law, Operation::frequencies, wrong_base([](const Rope& r) {
                  return static_cast<double>(r.dim - 2) / static_cast<double>(r.dim);
                }),
                plain, "exponent (d-2)/d");
  expect_caught(law, Operation::frequencies, wrong_base([](const Rope& r) {
                  return static_cast<double>(r.head_dim) / static_cast<double>(r.head_dim - 2);
                }),
                plain, "head_dim in place of the width");
  expect_caught(law, Operation::frequencies, misreading([](Rope r) {
                  if (const auto* ntk = std::get_if<scaling::Ntk>(&r.scaling))
                    r.scaling = scaling::Linear{ntk->factor};
                  return r;
                }),
                plain, "position interpolation instead");
}

}  // namespace
}  // namespace sextant
