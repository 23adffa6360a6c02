#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

const char* const kDynamic = "rope(dim=32,theta=10000,scaling=dynamic(factor=4,max_position=2048))";

TEST(dynamic_ntk, truth) {
  const WorkingDigits scope(50);
  const Frequencies<Interval> plain = frequencies<Interval>(rope_of("rope(dim=32,theta=10000)"), 1);
  const auto at = [](std::int64_t length) { return frequencies<Interval>(rope_of(kDynamic), length); };
  const Frequencies<Interval> edge = at(2048), past = at(2049), far = at(4096), farther = at(8192);
  // s T/M - (s-1) at T = 2M is s + 1, and so dynamic is ntk by s + 1 there.
  const Frequencies<Interval> ntk =
      frequencies<Interval>(rope_of("rope(dim=32,theta=10000,scaling=ntk(factor=5))"), 1);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_TRUE(meet(edge.inv_freq[k], plain.inv_freq[k]));
    EXPECT_TRUE(meet(far.inv_freq[k], ntk.inv_freq[k]));
    if (k == 0) continue;
    EXPECT_LT(upper(past.inv_freq[k]), lower(edge.inv_freq[k]));
    EXPECT_LT(upper(far.inv_freq[k]), lower(past.inv_freq[k]));
    EXPECT_LT(upper(farther.inv_freq[k]), lower(far.inv_freq[k]));
    EXPECT_GE(upper(past.inv_freq[k] * (1 + Interval(4) / 2048)), lower(edge.inv_freq[k]));
  }
  EXPECT_TRUE(meet(past.inv_freq[15] * (1 + Interval(4) / 2048), plain.inv_freq[15]));
  EXPECT_TRUE(meet(far.inv_freq[0], plain.inv_freq[0]));
}

TEST(dynamic_ntk, kernel) { expect_kept(dynamic_ntk()); }

TEST(dynamic_ntk, teeth) {
  const std::vector<Rope> encodings = {rope_of(kDynamic), rope_of("rope(dim=16,theta=500000)")};
  // The textbook kernel at another length than it is given.
  const auto at_length =
      [](const std::function<std::int64_t(std::int64_t length, std::int64_t trained)>& place) {
        Kernel kernel = scalar_kernel();
        kernel.frequencies = [right = kernel.frequencies, place](const FrequenciesCall& call) {
          const auto* dynamic = std::get_if<scaling::Dynamic>(&std::get<Rope>(call.encoding).scaling);
          const std::int64_t length = dynamic ? place(call.seq_len, dynamic->max_position) : call.seq_len;
          right({call.encoding, length, call.inv_freq, call.attention_factor});
        };
        return kernel;
      };
  const auto caught = [&](const Kernel& kernel, const char* fault) {
    expect_caught(dynamic_ntk(), Operation::frequencies, kernel, encodings, fault);
  };
  caught(at_length([](std::int64_t, std::int64_t trained) { return trained; }), "the length left out");
  caught(at_length([](std::int64_t length, std::int64_t) { return length + 8; }), "the switch too early");
  caught(at_length([](std::int64_t length, std::int64_t) { return length - 8; }), "the switch too late");
  caught(at_length([](std::int64_t length, std::int64_t trained) {
           return length <= trained ? length : trained * trained / length + trained;
         }),
         "a base that shrinks with the length");
  caught(misreading([](Rope r) {
           if (auto* dynamic = std::get_if<scaling::Dynamic>(&r.scaling))
             r.scaling = scaling::Ntk{dynamic->factor};
           return r;
         }),
         "the base stretched at every length");
  caught(misreading([](Rope r) {
           if (auto* dynamic = std::get_if<scaling::Dynamic>(&r.scaling)) dynamic->factor += 0.01;
           return r;
         }),
         "another factor");
}

}  // namespace
}  // namespace sextant
