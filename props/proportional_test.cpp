#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(proportional, truth) {
  // Gemma 4: 64 of 256 pairs rotate, with the exponents of all 512 channels; the others stand still.
  const WorkingDigits scope(50);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=512,theta=1000000)"), 1);
  const Frequencies<Interval> scaled = frequencies<Interval>(
      rope_of("rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25,factor=8))"), 1);
  const TableRow<Interval> row = table_row(scaled, 1234, TableForm::half);
  for (std::size_t k = 0; k < 256; ++k) {
    EXPECT_TRUE(meet(scaled.inv_freq[k] * 8, k < 64 ? plain.inv_freq[k] : Interval(0)));
    if (k < 64) continue;
    EXPECT_TRUE(meet(row.cos[k], Interval(1)));
    EXPECT_TRUE(meet(row.sin[k], Interval(0)));
  }
}

TEST(proportional, kernel) { expect_kept(proportional()); }

TEST(proportional, teeth) {
  const std::vector<Rope> encodings = {
      rope_of("rope(dim=32,theta=10000,scaling=proportional(fraction=0.334))"),
      rope_of("rope(dim=64,theta=500000)")};
  const auto caught = [&](const std::function<void(const Rope&, float*, float*)>& change, const char* fault) {
    expect_caught(proportional(), Operation::frequencies, with_frequencies(change), encodings, fault);
  };
  caught(
      [](const Rope& r, float* w, float*) {
        const auto* p = std::get_if<scaling::Proportional>(&r.scaling);
        if (!p) return;
        const auto rotated = static_cast<std::int64_t>(p->fraction * static_cast<double>(r.dim) / 2);
        for (std::int64_t k = 0; k < rotated; ++k) {
          w[k] = static_cast<float>(
              std::pow(r.theta, -static_cast<double>(k) / static_cast<double>(rotated)) / p->factor);
        }
      },
      "the exponent over the rotated width");
  caught(
      [](const Rope& r, float* w, float*) {
        if (std::holds_alternative<scaling::Proportional>(r.scaling) && w[r.pairs() - 1] == 0)
          w[r.pairs() - 1] = 1e-30F;
      },
      "a frequency past the fraction small, not zero");
  const auto misread = [&](const std::function<void(scaling::Proportional&, const Rope&)>& change,
                           const char* fault) {
    expect_caught(proportional(), Operation::frequencies, misreading([change](Rope r) {
                    const Rope before = r;
                    if (auto* p = std::get_if<scaling::Proportional>(&r.scaling)) change(*p, before);
                    return r;
                  }),
                  encodings, fault);
  };
  misread([](scaling::Proportional& p, const Rope&) { p.factor = 1; }, "factor left out");
  misread([](scaling::Proportional& p, const Rope& r) { p.fraction += 2 / static_cast<double>(r.dim); },
          "one pair too many");
  misread([](scaling::Proportional& p, const Rope&) { p.fraction = 1; }, "all pairs rotate");
}

}  // namespace
}  // namespace sextant
