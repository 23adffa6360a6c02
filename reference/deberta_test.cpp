#include "sextant/reference/deberta.hpp"

#include <gtest/gtest.h>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

TEST(deberta, check_values) {
  const LogBuckets direction = log_buckets(Deberta{256, 512});
  const std::vector<std::pair<std::int64_t, std::int64_t>> known = {
      {0, 0},     {1, 1},     {127, 127}, {128, 128}, {129, 129},
      {130, 130}, {200, 169}, {510, 255}, {511, 255}, {512, 256}};
  for (const auto& [relative, want] : known) {
    EXPECT_EQ(bucket(direction, relative), want) << relative;
    EXPECT_EQ(bucket(direction, -relative), -want) << relative;
  }
  const LogBuckets plain = log_buckets(Deberta{std::nullopt, 512});
  for (const std::int64_t relative : {-5000000000L, -1L, 0L, 1L, 511L, 512L, 1000000L})
    EXPECT_EQ(bucket(plain, relative), relative);
}

TEST(deberta, the_logarithm_agrees_wherever_it_decides) {
  for (const Deberta& deberta :
       {Deberta{256, 512}, Deberta{64, 512}, Deberta{4, 4}, Deberta{10, 7}, Deberta{256, 131}}) {
    const std::int64_t mid = *deberta.buckets / 2, top = deberta.max_position - 1;
    const LogBuckets direction = log_buckets(deberta);
    std::vector<std::int64_t> equal;
    const auto agrees = [&](std::int64_t a) {
      const auto x = [&] {
        return Interval(log(Interval(a) / mid) / log(Interval(top) / mid) * Interval(mid - 1));
      };
      const std::int64_t k = direction.of(a) - mid;
      if (is_between(a, top, mid, k, mid - 1)) {
        equal.push_back(a);
        return;
      }
      EXPECT_EQ(direction.of(a), mid + ceil_of(x)) << to_string(Encoding(deberta)) << " " << a;
    };
    for (std::int64_t a = mid + 1; a <= std::min(2 * top + 5, direction.farthest); ++a) agrees(a);
    for (const std::int64_t a : {std::int64_t{1000000}, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 32})
      if (a <= direction.farthest) agrees(a);
    // The two logarithms of the last distance are one: its ratio is exactly 1.
    EXPECT_TRUE(std::find(equal.begin(), equal.end(), top) != equal.end());
    EXPECT_EQ(direction.of(top), 2 * mid - 1);
    EXPECT_GE(direction.of(top + 1), 2 * mid);
    EXPECT_GE(direction.farthest, top);
  }
}

TEST(deberta, total_monotone_and_odd) {
  for (const Deberta& deberta : {Deberta{256, 512}, Deberta{4096, 2050}, Deberta{256, 130}}) {
    const LogBuckets direction = log_buckets(deberta);
    EXPECT_GE(direction.farthest, deberta.max_position - 1);
    std::int64_t before = 0;
    for (std::int64_t a = 1; a < 4000 && a <= direction.farthest; ++a) {
      EXPECT_GE(direction.of(a), before);
      EXPECT_EQ(bucket(direction, -a), -direction.of(a));
      if (a <= *deberta.buckets / 2) {
        EXPECT_EQ(direction.of(a), a);
      }
      before = direction.of(a);
    }
  }
  EXPECT_GE(log_buckets(Deberta{256, 512}).farthest, kMaxPosition);
}

TEST(deberta, refuses) {
  for (const char* text : {"deberta(buckets=0,max_position=512)", "deberta(buckets=2,max_position=512)",
                           "deberta(buckets=255,max_position=512)", "deberta(buckets=256,max_position=129)",
                           "deberta(buckets=256,max_position=0)"})
    EXPECT_THROW((void)parse_encoding(text), InputError) << text;
}

}  // namespace
}  // namespace sextant
