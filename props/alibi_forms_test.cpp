#include "sextant/props/bias_law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

using Form = Alibi::Form;

const Encodings kHeads = {Encoding(Alibi{1, 8, Form::relative, 0}), Encoding(Alibi{6, 8, Form::key, 0}),
                          Encoding(Alibi{8, 8, Form::symmetric, 0}),
                          Encoding(Alibi{12, 7.3, Form::last_key, 0})};

TEST(alibi_forms, truth) {
  // Weights of queries 3..7 over keys 0..7, as intervals: forms meet under the mask; without it key and
  // symmetric do not, and those of relative with its magnitude negated do.
  const WorkingDigits scope(50);
  const auto weights = [](Form form, bool causal, bool folded) {
    const Alibi alibi{6, 8, form, 0};
    Rows<Interval> scores;
    for (std::int64_t query = 3; query < 8; ++query) {
      scores.emplace_back();
      for (std::int64_t key = 0; key < 8; ++key) {
        const Interval m = slope<Interval>(alibi, 4);
        const Interval b = bias(alibi, m, multiplier(form, query, key, 7));
        scores.back().push_back(folded ? Interval(-abs(b)) : b);
      }
    }
    return softmax(scores, causal);
  };
  const auto same = [](const Rows<Interval>& a, const Rows<Interval>& b) {
    bool all = true;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < a[i].size(); ++j) all &= meet(a[i][j], b[i][j]);
    }
    return all;
  };
  for (const Form form : {Form::symmetric, Form::key, Form::last_key})
    EXPECT_TRUE(same(weights(Form::relative, true, false), weights(form, true, false)));
  EXPECT_TRUE(same(weights(Form::relative, false, true), weights(Form::symmetric, false, false)));
  EXPECT_FALSE(same(weights(Form::key, false, false), weights(Form::symmetric, false, false)));
  EXPECT_FALSE(same(weights(Form::sqrt, true, false), weights(Form::relative, true, false)));
}

TEST(alibi_forms, kernel) { expect_kept_by_all(alibi_forms(), Operation::bias, kHeads, 20); }

TEST(alibi_forms, a_witness_approaches_the_bound) {
  // Far from 0 the form by key rounds where the one by distance does not.
  const Trials trials = run_trials(alibi_forms(), Operation::bias, scalar_kernel(), kHeads, 200);
  EXPECT_EQ(trials.failed, 0);
  EXPECT_GT(trials.measure.share(), 0.1);
}

TEST(alibi_forms, teeth) {
  const Law law = alibi_forms();
  const auto with = [](Form wrong,
                       const std::function<double(std::int64_t, std::int64_t, const BiasCall&)>& n) {
    return biased([=](const Alibi& alibi, std::int64_t head, std::int64_t query, std::int64_t key,
                      const BiasCall& call) {
      const double right =
          static_cast<double>(multiplier(alibi.form, query, key, last_of(call.key_positions)));
      return static_cast<float>(nearest_slope(alibi, head, kFloat64) *
                                (alibi.form == wrong ? n(query, key, call) : right));
    });
  };
  const auto first = [](const Tensor& positions) { return position_at(positions, 0, 0); };
  using Int = std::int64_t;
  const auto caught = [&](Form form, const std::function<double(Int, Int, const BiasCall&)>& n,
                          const char* fault) {
    expect_caught(law, Operation::bias, with(form, n), kHeads, fault);
  };
  caught(
      Form::key, [](Int, Int k, const BiasCall&) { return static_cast<double>(-k); }, "the sign of one form");
  caught(
      Form::last_key, [](Int, Int k, const BiasCall&) { return 2 * static_cast<double>(k); },
      "the slope of one form");
  caught(
      Form::key,
      [](Int q, Int k, const BiasCall&) { return -std::sqrt(std::fabs(static_cast<double>(q - k))); },
      "a root");
  caught(
      Form::symmetric, [](Int q, Int k, const BiasCall&) { return static_cast<double>(k - q); },
      "symmetric not folded");
  caught(
      Form::symmetric,
      [&](Int q, Int k, const BiasCall& call) {
        return -std::fabs(
            static_cast<double>(q - first(call.query_positions) - (k - first(call.key_positions))));
      },
      "queries counted from row 0: not aligned at the bottom right");
  caught(
      Form::key,
      [](Int, Int k, const BiasCall&) {
        return static_cast<double>(rounded_to(DType::bf16, static_cast<float>(k)));
      },
      "positions of 16 bits");
  // Blind to row constants, as an anchor, and to what all forms share.
  const auto kept = [&](const Kernel& kernel) {
    EXPECT_EQ(run_trials(law, Operation::bias, kernel, kHeads).failed, 0);
  };
  kept(with(Form::last_key, [&](Int, Int k, const BiasCall& call) {
    return static_cast<double>(k - first(call.key_positions));
  }));
  kept(biased(
      [](const Alibi& alibi, std::int64_t, std::int64_t query, std::int64_t key, const BiasCall& call) {
        return bias(alibi, 0.25F, multiplier(alibi.form, query, key, last_of(call.key_positions)));
      }));
}

}  // namespace
}  // namespace sextant
