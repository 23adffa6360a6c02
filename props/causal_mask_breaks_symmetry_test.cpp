#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

Rows<Interval> tokens(std::int64_t salt) {
  Rows<Interval> rows;
  for (std::int64_t s = 0; s < 4; ++s) {
    rows.emplace_back();
    for (std::int64_t c = 0; c < 6; ++c)
      rows.back().push_back(
          Interval(static_cast<int>(scatter(static_cast<std::uint64_t>(s * 131 + c * 7 + salt)) % 9) - 4) /
          4);
  }
  return rows;
}

// X is `tokens`, P exchanges tokens 0 and 1: rows 2 and 3 stay, row 1 of PX is not row 0 of X, and the
// enclosures are disjoint.
TEST(causal_mask_breaks_symmetry, truth) {
  const WorkingDigits scope(50);
  const Rows<Interval> q = tokens(1), k = tokens(2), v = tokens(3);
  const auto exchanged = [](Rows<Interval> rows) {
    std::swap(rows[0], rows[1]);
    return rows;
  };
  const Interval scale = Interval(1) / 3;
  const Rows<Interval> direct = attention(q, k, v, scale, true);
  const Rows<Interval> permuted = attention(exchanged(q), exchanged(k), exchanged(v), scale, true);
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_TRUE(meet(direct[2][c], permuted[2][c], 100));
    EXPECT_TRUE(meet(direct[3][c], permuted[3][c], 100));
  }
  bool differs = false;
  for (std::size_t c = 0; c < 6; ++c) {
    differs =
        differs || lower(direct[0][c]) > upper(permuted[1][c]) || upper(direct[0][c]) < lower(permuted[1][c]);
  }
  EXPECT_TRUE(differs);

  const Rows<Interval> zero(4, std::vector<Interval>(2, Interval(0)));
  Rows<Interval> mark = zero;
  mark[0] = {Interval(1), Interval(1)};
  const Rows<Interval> counted = attention(zero, zero, mark, scale, true);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(meet(counted[i][0], Interval(1) / static_cast<std::int64_t>(i + 1)));
}

TEST(causal_mask_breaks_symmetry, kernel) {
  expect_kept(causal_mask_breaks_symmetry(), {});
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::attention)) continue;
    const Trials trials = run_trials(causal_mask_breaks_symmetry(), Operation::attention, kernel, {}, 20);
    EXPECT_EQ(trials.failed, 0) << kernel.name << " " << trials.measure.share();
    EXPECT_GT(trials.measure.elements, 1000) << kernel.name;
  }
}

TEST(causal_mask_breaks_symmetry, teeth) {
  const Kernel right = scalar_kernel();
  const auto caught = [&](const std::function<void(AttentionCall)>& attention, const char* fault) {
    Kernel faulty = right;
    faulty.attention = attention;
    expect_caught(causal_mask_breaks_symmetry(), Operation::attention, faulty, {}, fault);
  };
  /// Without a mask, but with a bias: bias(position of the query, key).
  const auto biased = [right](AttentionCall call,
                              const std::function<float(std::int64_t, std::int64_t)>& bias) {
    const std::int64_t heads = call.q.dim(2), queries = call.q.dim(1), keys = call.k.dim(1);
    std::vector<float> values;
    for (std::int64_t row = 0; row < heads * queries; ++row) {
      for (std::int64_t j = 0; j < keys; ++j) values.push_back(bias(row % queries + keys - queries, j));
    }
    call.mask = Mask::none;
    call.bias = dense(values.data(), DType::f32, heads, queries, keys);
    right.attention(call);
  };
  const auto seen = [](bool visible) { return visible ? 0.0F : -INFINITY; };
  Kernel by_bias = right;
  by_bias.attention = [=](const AttentionCall& call) {
    biased(call, [=](std::int64_t i, std::int64_t j) { return seen(j <= i); });
  };
  EXPECT_EQ(run_trials(causal_mask_breaks_symmetry(), Operation::attention, by_bias, {}).failed, 0);
  caught(
      [=](AttentionCall call) {
        call.mask = Mask::none;
        right.attention(call);
      },
      "the mask missing");
  caught(
      [=](const AttentionCall& call) {
        biased(call, [=](std::int64_t i, std::int64_t j) { return seen(j <= i + 1); });
      },
      "a key too many");
  caught(
      [=](const AttentionCall& call) {
        biased(call, [=](std::int64_t i, std::int64_t j) { return seen(j < i || j == 0); });
      },
      "a key too few");
  caught(
      [=](const AttentionCall& call) {
        biased(call, [=](std::int64_t i, std::int64_t j) { return seen(j <= i && j + 3 > i); });
      },
      "a window of three keys");
  caught(
      [=](const AttentionCall& call) {
        const std::int64_t past = call.k.dim(1) - call.q.dim(1);
        biased(call, [=](std::int64_t i, std::int64_t j) { return seen(j <= i - past); });
      },
      "queries counted from the first key");
  caught(
      [=](const AttentionCall& call) {
        biased(call, [=](std::int64_t i, std::int64_t j) {
          return j <= i ? -0.001F * static_cast<float>(i - j) : -INFINITY;
        });
      },
      "a small positional bias");
  caught(
      [=](AttentionCall call) {
        const Encoding rope = rope_of("rope(dim=2,theta=10000)");
        std::vector<float> k(static_cast<std::size_t>(call.k.elements()));
        Tensor turned =
            dense(k.data(), DType::f32, call.k.dim(0), call.k.dim(1), call.k.dim(2), call.k.dim(3));
        std::copy_n(call.k.as<const float>(), k.size(), k.begin());
        for (std::int64_t j = 0; j < call.k.dim(1); ++j) {
          for (std::int64_t h = 0; h < call.k.dim(2); ++h) {
            float* x = k.data() + turned.offset(0, j, h);
            const Pair<float> y =
                rotate_pair(x[0], x[1], std::cos(static_cast<float>(j)), std::sin(static_cast<float>(j)));
            x[0] = y.a;
            x[1] = y.b;
          }
        }
        call.k = turned;
        right.attention(call);
      },
      "keys rotated by their position");
}

}  // namespace
}  // namespace sextant
