#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"
#include "sextant/reference/shaw.hpp"
#include "sextant/reference/transformer_xl.hpp"

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

Rows<Interval> swapped(Rows<Interval> rows) {
  std::swap(rows[0], rows[1]);
  return rows;
}

/// True where the enclosures of some element are disjoint.
bool differ(const Rows<Interval>& a, const Rows<Interval>& b) {
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (std::size_t c = 0; c < a[s].size(); ++c) {
      if (lower(a[s][c]) > upper(b[s][c]) || upper(a[s][c]) < lower(b[s][c])) return true;
    }
  }
  return false;
}
bool agree(const Rows<Interval>& a, const Rows<Interval>& b) {
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (std::size_t c = 0; c < a[s].size(); ++c) {
      if (!meet(a[s][c], b[s][c], 100)) return false;
    }
  }
  return true;
}

/// Attention with an encoding in it: q, k, v -> out, tokens at 0, 1, 2.
using Encoded = std::function<Rows<Interval>(Rows<Interval>, Rows<Interval>, Rows<Interval>)>;

const Interval kScale = Interval(1) / 2;

/// Rows added to the tokens before they become queries, keys and values.
Encoded adding(const Rows<Interval>& rows) {
  const auto sum = [rows](Rows<Interval> x) {
    for (std::size_t s = 0; s < x.size(); ++s) {
      for (std::size_t c = 0; c < x[s].size(); ++c) x[s][c] = x[s][c] + rows[s][c];
    }
    return x;
  };
  return [sum](const auto& q, const auto& k, const auto& v) {
    return attention(sum(q), sum(k), sum(v), kScale, false);
  };
}

/// A bias by query and key added to the scaled scores.
Encoded biased(const std::function<Interval(std::int64_t, std::int64_t)>& bias) {
  return [bias](const auto& q, const auto& k, const auto& v) {
    Rows<Interval> scores = attention_scores(q, k, kScale);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      for (std::size_t j = 0; j < scores.size(); ++j)
        scores[i][j] = scores[i][j] + bias(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
    }
    return weighted(softmax(scores, false), v);
  };
}

/// Attn(PX) and P Attn(X), P the exchange of tokens 0 and 1 of three or their reversal, X `tokens` above.
struct Sides {
  Rows<Interval> direct, permuted;
};
Sides sides(const Encoded& encoded, std::int64_t channels,
            Rows<Interval> (*permute)(Rows<Interval>) = swapped) {
  const Rows<Interval> q = tokens(3, channels, 1), k = tokens(3, channels, 2), v = tokens(3, channels, 3);
  return {permute(encoded(q, k, v)), encoded(permute(q), permute(k), permute(v))};
}

void expect_witness(const Encoded& encoded, std::int64_t channels, const std::string& name) {
  const auto [direct, permuted] = sides(encoded, channels);
  EXPECT_TRUE(differ(direct, permuted)) << name;
}

// Once an encoding is added the law fails: P exchanges tokens 0 and 1 of three, X is `tokens` above, and the
// enclosures of some element are disjoint.
TEST(permutation_equivariance, every_encoding_has_a_witness_against_it) {
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 3);
    const auto rotated = [&](Rows<Interval> rows) {
      for (std::size_t s = 0; s < rows.size(); ++s)
        rows[s] = rotate(rope, f, static_cast<std::int64_t>(s), rows[s]);
      return rows;
    };
    expect_witness([&](const auto& q, const auto& k,
                       const auto& v) { return attention(rotated(q), rotated(k), v, kScale, false); },
                   rope.head_dim, to_string(Encoding(rope)));
  }

  // Sinusoids of distances 0, 1, 2 in both layouts; a learned table's rows; with equal rows the law holds.
  for (const auto form : {TransformerXl::Form::xlnet, TransformerXl::Form::conformer}) {
    Rows<Interval> rows;
    for (std::int64_t m = 0; m < 3; ++m) rows.push_back(transformer_xl_sinusoids<Interval>({6, -1, form}, m));
    expect_witness(adding(rows), 6, "sinusoidal");
  }
  expect_witness(adding(tokens(3, 6, 8)), 6, "learned");
  const auto [direct, permuted] = sides(adding(Rows<Interval>(3, tokens(1, 6, 8)[0])), 6);
  EXPECT_TRUE(agree(direct, permuted));

  // Relative terms: with a row per distance; with distances clipped to 0 one row serves all, and the law
  // holds.
  for (const bool values : {false, true}) {
    const auto shaw = [&](const Shaw& scheme) -> Encoded {
      return [scheme](const auto& q, const auto& k, const auto& v) {
        const auto rows = shaw_rows(scheme);
        return shaw_attention(scheme, q, k, v, tokens(rows, 6, 4),
                              scheme.values ? tokens(rows, 6, 5) : Rows<Interval>(), kScale)
            .out;
      };
    };
    expect_witness(shaw({1, 1, values}), 6, "shaw");
    const auto clipped = sides(shaw({0, 0, values}), 6);
    EXPECT_TRUE(agree(clipped.direct, clipped.permuted));
  }
  for (const auto form : {TransformerXl::Form::xlnet, TransformerXl::Form::conformer}) {
    const TransformerXl scheme{6, -1, form};
    Rows<Interval> r(static_cast<std::size_t>(transformer_xl_rows(scheme, 3, 3)), std::vector<Interval>(6));
    for (std::int64_t distance = -2; distance <= 2; ++distance)
      r[static_cast<std::size_t>(transformer_xl_row(scheme, 3, distance))] =
          transformer_xl_sinusoids<Interval>(scheme, distance);
    expect_witness(
        [&](const auto& q, const auto& k, const auto& v) {
          return transformer_xl_attention(scheme, q, k, v, tokens(1, 6, 6)[0], tokens(1, 6, 7)[0], r, kScale)
              .out;
        },
        6, "transformer_xl");
  }

  // Biases. A symmetric one needs a P that changes some |i-j|: the exchange does, a reversal does not.
  const auto t5 = [](std::int64_t i, std::int64_t j) {  // up to a distance of 2 buckets are distances
    return Interval((j - i) * (j - i) + 3 * (j - i)) / 8;
  };
  const auto alibi = [](std::int64_t i, std::int64_t j) { return Interval(-std::abs(i - j)) / 4; };
  expect_witness(biased(t5), 6, "t5");
  expect_witness(biased(alibi), 6, "alibi, symmetric");
  const auto symmetric = sides(biased(alibi), 6, reversed), directed = sides(biased(t5), 6, reversed);
  EXPECT_TRUE(agree(symmetric.direct, symmetric.permuted));
  EXPECT_TRUE(differ(directed.direct, directed.permuted));
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
