#include "sextant/reference/shaw.hpp"

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

const Encodings kSchemes = {Shaw{64, 8, true}, Shaw{2, 1, true}, Shaw{0, 3, false}, Shaw{16, 16, true},
                            Shaw{0, 0, true}};

// Every distance around both ends and 0, and far out: total, monotone, steps of at most 1, and every row is
// used.
TEST(shaw_clipping, truth) {
  for (const Encoding& encoding : kSchemes) {
    const Shaw& scheme = std::get<Shaw>(encoding);
    std::int64_t before = 0;
    for (std::int64_t distance = -2000; distance <= 2000; ++distance) {
      const std::int64_t row = shaw_row(scheme, 0, distance);
      EXPECT_EQ(row, shaw_row(scheme, -distance, 0));
      EXPECT_TRUE(row == before || row == before + 1) << distance;
      EXPECT_EQ(row == before + 1, distance > -scheme.left && distance <= scheme.right) << distance;
      before = row;
    }
    EXPECT_EQ(before, shaw_rows(scheme) - 1);
    for (const std::int64_t far : {kMaxPosition, std::int64_t{1} << 32}) {
      EXPECT_EQ(shaw_row(scheme, far, -far), 0);
      EXPECT_EQ(shaw_row(scheme, -far, far), shaw_rows(scheme) - 1);
    }
  }
}

TEST(shaw_clipping, kernel) {
  expect_kept(shaw_clipping(), kSchemes);
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::buckets)) continue;
    const Trials trials = run_trials(shaw_clipping(), Operation::buckets, kernel, kSchemes, 40);
    EXPECT_EQ(trials.failed, 0) << kernel.name;
    EXPECT_GT(trials.measure.elements, 1000) << kernel.name;
  }
}

TEST(shaw_clipping, teeth) {
  const Encodings uneven = {Shaw{64, 8, true}, Shaw{2, 1, true}};
  const auto caught = [&](const std::function<std::int64_t(const Shaw&, std::int64_t, std::int64_t)>& row,
                          const char* fault) {
    Kernel kernel = scalar_kernel();
    kernel.buckets = [row](const BucketsCall& call) {
      for (std::int64_t i = 0; i < call.buckets.dim(0); ++i) {
        for (std::int64_t j = 0; j < call.buckets.dim(1); ++j) {
          call.buckets.as<std::int32_t>()[call.buckets.offset(i, j)] = static_cast<std::int32_t>(
              row(std::get<Shaw>(call.encoding), position_at(call.query_positions, 0, i),
                  position_at(call.key_positions, 0, j)));
        }
      }
    };
    expect_caught(shaw_clipping(), Operation::buckets, kernel, uneven, fault);
  };
  caught([](const Shaw& s, std::int64_t q,
            std::int64_t k) { return std::clamp(k - q, -s.right, s.left) + s.left; },
         "clipped to [-right, left]");
  caught([](const Shaw& s, std::int64_t q, std::int64_t k) { return shaw_row(s, k, q); },
         "key and query exchanged");
  caught([](const Shaw& s, std::int64_t q, std::int64_t k) { return std::clamp(k - q, -s.left, s.right); },
         "rows from -left on");
  caught([](const Shaw& s, std::int64_t q,
            std::int64_t k) { return std::clamp(k - q, -s.left, s.right - 1) + s.left; },
         "one row too few");
  caught(
      [](const Shaw& s, std::int64_t q, std::int64_t k) {
        const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(k - q));
        return std::clamp<std::int64_t>(wrapped, -s.left, s.right) + s.left;
      },
      "a difference in 32 bits");
  caught(
      [](const Shaw& s, std::int64_t q, std::int64_t k) {
        return std::clamp<std::int64_t>(
                   static_cast<std::int64_t>(static_cast<float>(k) - static_cast<float>(q)), -s.left,
                   s.right) +
               s.left;
      },
      "positions in float32");
}

}  // namespace
}  // namespace sextant
