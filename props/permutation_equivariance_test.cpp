#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

Rows<Interval> tokens(std::int64_t count, std::int64_t channels, int salt) {
  Rows<Interval> rows;
  for (std::int64_t s = 0; s < count; ++s) {
    rows.emplace_back();
    for (std::int64_t c = 0; c < channels; ++c)
      rows.back().push_back(
          Interval(static_cast<int>(scatter(static_cast<std::uint64_t>(s * 131 + c * 7 + salt)) % 9) - 4) /
          4);
  }
  return rows;
}

Rows<Interval> reversed(Rows<Interval> rows) {
  std::reverse(rows.begin(), rows.end());
  return rows;
}

TEST(permutation_equivariance, truth) {
  const WorkingDigits scope(50);
  const Rows<Interval> q = tokens(4, 6, 1), k = tokens(4, 6, 2), v = tokens(4, 6, 3);
  const Interval scale = Interval(1) / 3;
  const Rows<Interval> direct = reversed(attention(q, k, v, scale, false));
  const Rows<Interval> permuted = attention(reversed(q), reversed(k), reversed(v), scale, false);
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t c = 0; c < 6; ++c) EXPECT_TRUE(meet(direct[s][c], permuted[s][c], 100));
  }
}

// Once the encoding is added the law fails: P exchanges tokens 0 and 1 of three, X is `tokens` above, and the
// enclosures of some element are disjoint.
TEST(permutation_equivariance, every_encoding_has_a_witness_against_it) {
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 3);
    const Rows<Interval> q = tokens(3, rope.head_dim, 1), k = tokens(3, rope.head_dim, 2),
                         v = tokens(3, 2, 3);
    const auto rotated = [&](Rows<Interval> rows) {
      for (std::size_t s = 0; s < rows.size(); ++s)
        rows[s] = rotate(rope, f, static_cast<std::int64_t>(s), rows[s]);
      return rows;
    };
    const auto swapped = [](Rows<Interval> rows) {
      std::swap(rows[0], rows[1]);
      return rows;
    };
    const Interval scale = Interval(1) / 2;
    const Rows<Interval> direct = swapped(attention(rotated(q), rotated(k), v, scale, false));
    const Rows<Interval> permuted =
        attention(rotated(swapped(q)), rotated(swapped(k)), swapped(v), scale, false);
    bool differs = false;
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t c = 0; c < 2; ++c) {
        differs = differs || lower(direct[s][c]) > upper(permuted[s][c]) ||
                  upper(direct[s][c]) < lower(permuted[s][c]);
      }
    }
    EXPECT_TRUE(differs) << to_string(Encoding(rope));
  }
}

TEST(permutation_equivariance, kernel) { expect_kept(permutation_equivariance(), {}); }

TEST(permutation_equivariance, teeth) {
  const Law law = permutation_equivariance();
  const Kernel right = scalar_kernel();
  const auto caught = [&](const std::function<void(AttentionCall)>& attention, const char* fault) {
    Kernel faulty = right;
    faulty.attention = attention;
    expect_caught(law, Operation::attention, faulty, {}, fault);
  };
  caught(
      [&](AttentionCall call) {
        call.mask = Mask::causal;
        right.attention(call);
      },
      "a causal mask that was not asked for");
  caught(
      [&](AttentionCall call) {
        std::vector<float> bias(static_cast<std::size_t>(call.q.dim(2) * call.q.dim(1) * call.k.dim(1)));
        for (std::size_t i = 0; i < bias.size(); ++i)
          bias[i] = -0.001F * static_cast<float>(i % static_cast<std::size_t>(call.k.dim(1)));
        call.bias = dense(bias.data(), DType::f32, call.q.dim(2), call.q.dim(1), call.k.dim(1));
        right.attention(call);
      },
      "a small positional bias");
  caught(
      [&](AttentionCall call) {
        call.k.shape[1] -= 1;
        call.v.shape[1] -= 1;
        right.attention(call);
      },
      "the last key dropped");
}

// The attention bound approaches what happens: a sum of many like terms in float32 loses bits in step with
// gamma_n.
TEST(permutation_equivariance, the_attention_bound_has_a_witness_that_approaches_it) {
  const std::int64_t channels = 4096;
  std::vector<float> q(static_cast<std::size_t>(channels), 1.0F), k(q.size(), 1.0F / 3), v(2, 1.0F),
      out(q.size());
  std::vector<float> score(1);
  scalar_kernel().attention({dense(q.data(), DType::f32, 1, 1, 1, channels),
                             dense(k.data(), DType::f32, 1, 1, 1, channels),
                             dense(k.data(), DType::f32, 1, 1, 1, channels),
                             1.0,
                             Mask::none,
                             {},
                             {},
                             dense(out.data(), DType::f32, 1, 1, 1, channels),
                             dense(score.data(), DType::f32, 1, 1, 1, 1)});
  const double exact = static_cast<double>(channels) * static_cast<double>(1.0F / 3);
  const double bound = logit_bound(channels, 1, exact);
  const double error = std::fabs(score[0] - exact);
  EXPECT_LE(error, bound);
  EXPECT_GT(error, bound / 100);
}

}  // namespace
}  // namespace sextant
