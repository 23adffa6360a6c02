#include "sextant/reference/t5.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/reference/decide.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

/// The first distance of every bucket of a direction.
std::vector<std::int64_t> first_distances(const T5& t5) {
  const LogBuckets buckets = log_buckets(t5);
  std::vector<std::int64_t> firsts;
  for (std::int64_t r = 0; r <= buckets.exact; ++r) firsts.push_back(r);
  firsts.insert(firsts.end(), buckets.firsts.begin(), buckets.firsts.end());
  return firsts;
}

std::vector<std::int64_t> after(std::int64_t exact, std::vector<std::int64_t> rest) {
  std::vector<std::int64_t> all;
  for (std::int64_t r = 0; r <= exact; ++r) all.push_back(r);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

const std::vector<T5> kSchemes = {{32, 128, true}, {32, 128, false}, {64, 128, true},  {64, 128, false},
                                  {8, 20, true},   {8, 20, false},   {320, 800, true}, {512, 2048, true},
                                  {4, 2, true},    {2, 2, false},    {7, 5, false},    {100, 1000003, false}};

TEST(t5, check_values) {
  EXPECT_EQ(first_distances({32, 128, true}), after(8, {12, 16, 23, 32, 46, 64, 91}));
  EXPECT_EQ(first_distances({32, 128, false}),
            after(16, {19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}));
  EXPECT_EQ(first_distances({64, 128, true}), first_distances({32, 128, false}));
  EXPECT_EQ(first_distances({64, 128, false}),
            after(32, {34, 35, 37, 39, 40, 42, 44, 46, 48, 50, 52,  54,  57,  59,  62, 64,
                       67, 70, 73, 77, 80, 83, 87, 91, 95, 99, 104, 108, 113, 118, 123}));
  EXPECT_EQ(first_distances({8, 20, true}), after(2, {7}));
  EXPECT_EQ(first_distances({8, 20, false}), after(4, {6, 9, 14}));
  EXPECT_EQ(first_distances({320, 800, true}),
            after(80, {83,  85,  88,  90,  93,  96,  98,  101, 104, 107, 110, 114, 117, 120, 124, 127,
                       131, 135, 139, 143, 147, 151, 156, 160, 165, 170, 175, 180, 185, 190, 196, 201,
                       207, 213, 220, 226, 233, 239, 246, 253, 261, 268, 276, 284, 293, 301, 310, 319,
                       328, 338, 348, 358, 368, 379, 390, 401, 413, 425, 438, 450, 464, 477, 491, 505,
                       520, 535, 551, 567, 583, 600, 618, 636, 655, 674, 693, 714, 734, 756, 778}));
}

TEST(t5, golden_buckets) {
  const auto golden = nlohmann::json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/fixtures/golden/golden.json"));
  std::size_t values = 0;
  for (const auto& entry : golden.at("t5")) {
    const T5 t5{entry.at("num_buckets"), entry.at("max_distance"), entry.at("bidirectional")};
    const LogBuckets direction = log_buckets(t5);
    std::int64_t relative = entry.at("first");
    for (const std::int64_t want : entry.at("buckets")) {
      EXPECT_EQ(bucket(t5, direction, relative), want) << to_string(Encoding(t5)) << " " << relative;
      ++relative;
      ++values;
    }
  }
  EXPECT_EQ(golden.at("t5").size(), 10u);
  EXPECT_GT(values, 1000u);
}

TEST(t5, the_logarithm_agrees_wherever_it_decides) {
  for (const T5& t5 : kSchemes) {
    const LogBuckets direction = log_buckets(t5);
    const std::int64_t e = direction.exact, steps = buckets_per_direction(t5) - e, d = t5.max_distance;
    std::vector<std::int64_t> equal;
    std::vector<std::int64_t> distances;
    for (std::int64_t r = e; r <= std::min<std::int64_t>(d + 5, 1000); ++r) distances.push_back(r);
    for (const std::int64_t r : direction.firsts) {
      distances.push_back(r - 1);
      distances.push_back(r);
    }
    for (const std::int64_t r : {d - 1, d, d + 1, std::int64_t{1000000}, (std::int64_t{1} << 31) - 1})
      distances.push_back(std::max(r, e));
    for (const std::int64_t r : distances) {
      if (r > d) {
        EXPECT_EQ(direction.of(r), e + steps - 1) << to_string(Encoding(t5)) << " " << r;
        continue;
      }
      bool boundary = r == e || r == d;
      for (std::int64_t k = 0; k <= steps && !boundary; ++k) boundary = is_between(r, d, e, k, steps);
      if (boundary) {
        equal.push_back(r);
        continue;
      }
      const std::int64_t step =
          floor_of([&] { return Interval(log(Interval(r) / e) / log(Interval(d) / e) * Interval(steps)); });
      EXPECT_EQ(direction.of(r), e + std::min(step, steps - 1)) << to_string(Encoding(t5)) << " " << r;
    }
    std::sort(equal.begin(), equal.end());
    equal.erase(std::unique(equal.begin(), equal.end()), equal.end());
    const auto expect_equal = [&](const T5& of, const std::vector<std::int64_t>& want) {
      if (t5 == of) {
        EXPECT_EQ(equal, want) << to_string(Encoding(t5));
      }
    };
    expect_equal({32, 128, true}, {8, 16, 32, 64, 128});
    expect_equal({32, 128, false}, {16, 128});
    expect_equal({64, 128, false}, {32, 64, 128});
    expect_equal({320, 800, true}, {80, 800});
  }
}

TEST(t5, total_monotone_exact_first_and_full_at_max_distance) {
  for (const T5& t5 : kSchemes) {
    const LogBuckets direction = log_buckets(t5);
    const std::int64_t nb = buckets_per_direction(t5);
    EXPECT_TRUE(std::is_sorted(direction.firsts.begin(), direction.firsts.end()));
    for (std::int64_t r = 0; r < nb / 2; ++r) EXPECT_EQ(direction.of(r), r);
    EXPECT_EQ(direction.of(t5.max_distance), nb - 1);
    EXPECT_EQ(direction.of(std::int64_t{1} << 40), nb - 1);
    const std::int64_t far = std::int64_t{1} << 32;
    EXPECT_EQ(bucket(t5, direction, -far), nb - 1);
    EXPECT_EQ(bucket(t5, direction, far), t5.bidirectional ? 2 * nb - 1 : 0);
    EXPECT_EQ(bucket(t5, direction, 1), t5.bidirectional ? nb + direction.of(1) : 0);
    EXPECT_EQ(bucket(t5, direction, 0), 0);
  }
}

TEST(t5, refuses) {
  for (const char* text : {"t5(buckets=0)", "t5(buckets=1)", "t5(buckets=2)", "t5(buckets=31)",
                           "t5(buckets=1,bidirectional=false)", "t5(max_distance=8)", "t5(max_distance=0)",
                           "t5(buckets=32,max_distance=16,bidirectional=false)", "t5(buckets=99999)"})
    EXPECT_THROW((void)parse_encoding(text), InputError) << text;
  EXPECT_NO_THROW((void)parse_encoding("t5(max_distance=9)"));
}

}  // namespace
}  // namespace sextant
