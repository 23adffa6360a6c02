#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(llama3_bands, truth) {
  const WorkingDigits scope(50);
  const Frequencies<Interval> scaled = frequencies<Interval>(
      rope_of("rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))"), 1);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=128,theta=500000)"), 1);
  int medium = 0;
  for (std::size_t k = 0; k < 64; ++k) {
    const Interval wavelength = 2 * pi<Interval>() / plain.inv_freq[k];
    const Interval ratio = scaled.inv_freq[k] / plain.inv_freq[k];
    if (upper(wavelength) < 2048) {
      EXPECT_TRUE(meet(ratio, Interval(1)));
    } else if (lower(wavelength) > 8192) {
      EXPECT_TRUE(meet(ratio, Interval(1) / 8));
    } else {
      // The ramp, continuous at both edges: at lam = L/high it is 1, at lam = L/low it is 1/s.
      const Interval smooth = (Interval(8192) / wavelength - 1) / 3;
      EXPECT_TRUE(meet(ratio, (1 - smooth) / 8 + smooth));
      ++medium;
    }
  }
  EXPECT_EQ(medium, 6);
}

TEST(llama3_bands, kernel) { expect_kept(llama3_bands()); }

TEST(llama3_bands, teeth) {
  const std::vector<Rope> llama3 = {
      rope_of("rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))")};
  const auto caught = [&](const std::function<void(scaling::Llama3&)>& misread, const char* fault) {
    expect_caught(llama3_bands(), Operation::frequencies, misreading([misread](Rope r) {
                    if (auto* l = std::get_if<scaling::Llama3>(&r.scaling)) misread(*l);
                    return r;
                  }),
                  llama3, fault);
  };
  caught([](scaling::Llama3& l) { std::swap(l.low, l.high); }, "low and high swapped");
  caught([](scaling::Llama3& l) { l.original *= 16; }, "the current length in place of the original");
  caught([](scaling::Llama3& l) { l.factor = 1; }, "factor left out");
  expect_caught(llama3_bands(), Operation::frequencies, misreading([](Rope r) {
                  if (const auto* l = std::get_if<scaling::Llama3>(&r.scaling)) {
                    scaling::Yarn yarn;
                    yarn.factor = l->factor;
                    yarn.original = l->original;
                    yarn.beta_fast = l->high;
                    yarn.beta_slow = l->low;
                    r.scaling = yarn;
                  }
                  return r;
                }),
                llama3, "a ramp over pairs instead of wavelengths");
}

}  // namespace
}  // namespace sextant
