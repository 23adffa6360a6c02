#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

TEST(rope_gqa_order, truth) {
  // Scores of grouped heads are the same whether a key head is expanded before or after its rotation.
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 100);
    Rows<Interval> keys, queries;
    for (std::int64_t h = 0; h < 4; ++h) {
      queries.emplace_back();
      if (h < 2) keys.emplace_back();
      for (std::int64_t i = 0; i < rope.head_dim; ++i) {
        queries.back().push_back(Interval(i % 5 - h));
        if (h < 2) keys.back().push_back(Interval(i % 3 + h));
      }
    }
    // Key head of query head h is h / 2: each repeated in place. Tiling (h % 2) gives other scores.
    const Rows<Interval> expanded = {keys[0], keys[0], keys[1], keys[1]};
    const Rows<Interval> tiled = {keys[0], keys[1], keys[0], keys[1]};
    for (std::size_t h = 0; h < 4; ++h) {
      const std::vector<Interval> query = rotate(rope, f, 99, queries[h]);
      const Interval grouped = dot(query, rotate(rope, f, 70, keys[h / 2]));
      EXPECT_TRUE(meet(grouped, dot(query, rotate(rope, f, 70, expanded[h])), 1000));
      EXPECT_EQ(meet(grouped, dot(query, rotate(rope, f, 70, tiled[h])), 1000), h == 0 || h == 3);
    }
  }
}

TEST(rope_gqa_order, kernel) {
  expect_kept(rope_gqa_order());
  EXPECT_EQ(run_trials(rope_gqa_order(), Operation::rotate, scalar_kernel(), law_encodings(), 20,
                       parse_contract("f32-angle"))
                .failed,
            0);
}

TEST(rope_gqa_order, teeth) {
  const Law law = rope_gqa_order();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto with_keys = [](const std::function<bool(std::int64_t head, std::int64_t group)>& wrong) {
    Kernel kernel = scalar_kernel();
    kernel.rotate = [right = kernel.rotate, wrong](const RotateCall& call) {
      right(call);
      if (!call.k) return;
      const HeadView k = head_view(call.k_out, call.layout);
      const std::int64_t group = head_view(call.q, call.layout).heads / k.heads;
      for (std::int64_t h = 0; h < k.heads; ++h) {
        float* y = call.k_out.as<float>() + k.offset(0, 0, h);
        if (wrong(h, group)) std::swap(y[0], y[8]);
      }
    };
    return kernel;
  };
  for (const auto& [wrong, fault] :
       {std::pair<std::function<bool(std::int64_t, std::int64_t)>, const char*>{
            [](std::int64_t, std::int64_t group) { return group > 1; }, "keys of groups rotated otherwise"},
        {[](std::int64_t h, std::int64_t) { return h == 1; }, "the second head of the keys"}}) {
    expect_caught(law, Operation::rotate, with_keys(wrong), plain, fault);
    EXPECT_GT(
        run_trials(law, Operation::rotate, with_keys(wrong), plain, 20, parse_contract("f32-angle")).failed,
        0)
        << fault;
  }
  // Blind to what all key heads share.
  EXPECT_EQ(
      run_trials(law, Operation::rotate, with_keys([](std::int64_t, std::int64_t) { return true; }), plain)
          .failed,
      0);
}

}  // namespace
}  // namespace sextant
