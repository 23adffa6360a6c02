#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

TEST(rope_relative_offset, truth) {
  const WorkingDigits scope(60);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 70000);
    Rope bare_width = rope;
    bare_width.head_dim = rope.dim;
    std::vector<Interval> q, k;
    for (std::int64_t i = 0; i < rope.dim; ++i) {
      q.push_back(Interval(i % 5 - 2));
      k.push_back(Interval(i % 7 - 3) / 4);
    }
    const auto score = [&](std::int64_t m, std::int64_t n) {
      return dot(rotate(bare_width, f, m, q), rotate(bare_width, f, n, k));
    };
    EXPECT_TRUE(meet(score(65520, 3), score(65520 + 4096, 3 + 4096), 100));
    EXPECT_TRUE(meet(score(65520, 3),
                     f.attention_factor * dot(rotate(bare_width, f, 65517, q), rotate(bare_width, f, 0, k)) /
                         f.attention_factor,
                     100));
  }
}

TEST(rope_relative_offset, kernel) { expect_kept(rope_relative_offset()); }

TEST(rope_relative_offset, teeth) {
  const Law law = rope_relative_offset();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto same = [](std::int64_t p) { return p; };
  expect_caught(law, Operation::rotate, misplacing(same, [](std::int64_t p) { return p + 1; }), plain,
                "k off by one position");
  const auto clamped = [](std::int64_t p) { return std::min<std::int64_t>(p, 100); };
  expect_caught(law, Operation::rotate, misplacing(clamped, clamped), plain, "positions clamped");
  const auto rounded = [](std::int64_t p) { return p / 8 * 8; };
  expect_caught(law, Operation::rotate, misplacing(rounded, rounded), plain, "positions rounded, as in bf16");
  expect_caught(law, Operation::rotate, misplacing(same, [](std::int64_t p) { return -p; }), plain,
                "k turned the other way");
  // Blind to equal shifts, as its header says.
  const auto next = [](std::int64_t p) { return p + 1; };
  EXPECT_EQ(run_trials(law, Operation::rotate, misplacing(next, next), plain).failed, 0);
}

}  // namespace
}  // namespace sextant
