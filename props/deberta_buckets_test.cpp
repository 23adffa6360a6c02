#include "sextant/reference/deberta.hpp"

#include <cmath>

#include "sextant/props/bias_law_test.hpp"

namespace sextant {
namespace {

const Deberta kBase{256, 512};

TEST(deberta_buckets, kernel) {
  expect_kept_by_all(
      deberta_buckets(), Operation::buckets,
      {Encoding(kBase), Encoding(Deberta{64, 512}), Encoding(Deberta{4, 4}), Encoding(Deberta{10, 7}),
       Encoding(Deberta{256, 130}), Encoding(Deberta{std::nullopt, 512})},
      20);
}

TEST(deberta_buckets, teeth) {
  const auto caught = [](const PairBucket& bucket, const Deberta& deberta, const char* fault) {
    expect_caught(deberta_buckets(), Operation::buckets, bucketed(bucket), {Encoding(deberta)}, fault);
  };
  const auto recipe = [](double mid, double top, auto whole) {
    return [=](std::int64_t q, std::int64_t k) -> std::int64_t {
      const auto a = static_cast<double>(std::abs(q - k));
      if (a <= mid) return q - k;
      const double x = std::log(a / mid) / std::log(top / mid) * (mid - 1);
      return (q > k ? 1 : -1) * static_cast<std::int64_t>(mid + whole(x));
    };
  };
  const auto up = [](double x) { return std::ceil(x); };
  const LogBuckets direction = log_buckets(kBase);
  EXPECT_EQ(run_trials(deberta_buckets(), Operation::buckets,
                       bucketed([&](std::int64_t q, std::int64_t k) { return bucket(direction, q - k); }),
                       {Encoding(kBase)}, 40)
                .failed,
            0);
  caught(recipe(128, 511, [](double x) { return std::floor(x); }), kBase, "floor for ceil");
  caught(recipe(128, 511, [](double x) { return std::round(x); }), kBase, "round for ceil");
  caught(recipe(128, 512, up), kBase, "max_position for max_position - 1");
  caught(recipe(127, 511, up), kBase, "half of the buckets off by one");
  caught(recipe(128, 511, [](double x) { return std::ceil(x * (1 + 0x1p-24)); }), kBase,
         "the last distance past its bucket");
  caught([&](std::int64_t q, std::int64_t k) { return bucket(direction, k - q); }, kBase, "the sign");
  caught([&](std::int64_t q, std::int64_t k) { return bucket(direction, std::abs(q - k)); }, kBase,
         "no sign");
  caught([&](std::int64_t q, std::int64_t k) { return std::clamp<std::int64_t>(q - k, -255, 255); }, kBase,
         "linear for large distances");
  caught([&](std::int64_t q, std::int64_t k) { return bucket(direction, q - k); }, {std::nullopt, 512},
         "buckets where there are none");
}

}  // namespace
}  // namespace sextant
