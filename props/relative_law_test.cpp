// The truth of laws on relative terms against MPFR, and their bound: kept, and nearly reached.
#include "sextant/props/relative_law.hpp"

#include "sextant/props/law_test.hpp"
#include "sextant/reference/shaw.hpp"

namespace sextant {
namespace {

Rows<Mpfr> rows_of(const DrawnTable& table) { return table.rows<Mpfr>(0); }

TEST(relative_law, the_truth_is_that_of_mpfr_far_within_what_limits_are_inflated_for) {
  const WorkingDigits scope(60);
  const Shaw scheme{3, 2, true};
  double worst = 0;
  for (std::uint64_t draw = 0; draw < 8; ++draw) {
    CaseSpace space = space_of(scheme, 64);
    space.consecutive = space.keys = space.bounded_inputs = true;
    const Case c = draw_case(space, 5, draw);
    RelativeInputs in = relative_inputs(c);
    for (const int stream : {3, 4})
      in.tables.push_back(drawn_table(c, stream, {shaw_rows(scheme), c.head_dim}));
    const ScoresAndOut<Mpfr> exact = shaw_attention(
        scheme, head_rows<Mpfr>(in.q, 0, 0), head_rows<Mpfr>(in.k, 0, 0), head_rows<Mpfr>(in.v, 0, 0),
        rows_of(in.tables[0]), rows_of(in.tables[1]), Mpfr(1 / sqrt(Mpfr(c.head_dim))));
    const Rows<Wide> scores = shaw_scores(scheme, head_rows<Wide>(in.q, 0, 0), head_rows<Wide>(in.k, 0, 0),
                                          in.tables[0].rows<Wide>(0), Wide(in.scale));
    const Rows<double> magnitudes =
        shaw_scores(scheme, head_rows<double>(in.q, 0, 0, true), head_rows<double>(in.k, 0, 0, true),
                    in.tables[0].rows<double>(0, true), in.scale);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      std::vector<double> bounds;
      for (std::size_t j = 0; j < scores[i].size(); ++j) {
        bounds.push_back(logit_bound(2 * c.head_dim, 1, magnitudes[i][j]));
        const Mpfr got = Mpfr(scores[i][j].hi) + Mpfr(scores[i][j].lo);
        const double error = Mpfr(abs(Mpfr(got - exact.scores[i][j]))).convert_to<double>();
        worst = std::max(worst, error / (bounds.back() * (kTruthInflate - 1)));
      }
      const QueryTruth query = query_truth(scores[i], bounds, 2);
      for (std::size_t d = 0; d < exact.out[i].size(); ++d) {
        const auto channel = static_cast<std::int64_t>(d);
        const auto term = [&](std::size_t j) {
          const std::int64_t row = shaw_row(scheme, in.k.tokens - in.q.tokens + static_cast<std::int64_t>(i),
                                            static_cast<std::int64_t>(j));
          return double{in.tables[1].row(row, 0)[channel]};
        };
        const auto own = [&](std::size_t j) {
          return double{in.v.in_head(0, static_cast<std::int64_t>(j), 0)[channel]};
        };
        const OutTruth out = out_truth(
            query, [&](std::size_t j) { return own(j) + term(j); },
            [&](std::size_t j) { return std::fabs(own(j)) + std::fabs(term(j)); });
        const double error = Mpfr(abs(Mpfr(exact.out[i][d] - out.exact))).convert_to<double>();
        EXPECT_LE(error, out.limit * (1 - 1 / kTruthInflate)) << to_string(c);
      }
    }
  }
  EXPECT_LT(worst, 1);
}

// Sums that lose almost a unit roundoff at every step: 1, and then terms just under u. A score of 2 D terms
// loses (D - 1) u of each 1, against a bound of (2 D + 2) u of their sum.
TEST(relative_law, a_score_and_an_output_nearly_reach_their_bounds) {
  const std::int64_t channels = 1024, keys = 1024;
  const float little = 0x1.ffcp-25F;
  const Shaw scheme{0, 0, true};
  Case c;
  c.encoding = scheme;
  c.head_dim = channels;
  c.positions = {0};
  c.mode = InputMode::ones;
  RelativeInputs in = relative_inputs(c);
  const auto losing = [&](std::vector<float>& x, std::int64_t step) {
    for (std::size_t i = 1; i < x.size(); ++i)
      if (i % static_cast<std::size_t>(step) == 0) x[i] = little;
  };
  for (const int stream : {3, 4}) in.tables.push_back(drawn_table(c, stream, {1, channels}));
  losing(in.k.in, 1);
  losing(in.tables[0].values, 1);
  const RelativeOutputs score = run_relative(scalar_kernel(), *c.encoding, in);
  const double sum = 1 + static_cast<double>(channels - 1) * double{little}, exact = 2 * sum * in.scale;
  const double bound = logit_bound(2 * channels, 1, exact), error = std::fabs(score.scores[0] - exact);
  EXPECT_LE(error, bound);
  EXPECT_GT(error, bound / 2.5);

  // Equal weights of 1/1024; values 1, then little, their terms 0: the sum of 2 n terms loses n - 1 times.
  for (std::int64_t j = 1; j < keys; ++j) c.keys.push_back(j);
  c.keys.push_back(keys);
  c.head_dim = 2;
  in = relative_inputs(c);
  std::fill(in.q.in.begin(), in.q.in.end(), 0.0F);
  losing(in.v.in, 2);
  losing(in.v.in, 1);
  in.v.in[1] = 1;
  for (const int stream : {3, 4}) in.tables.push_back(drawn_table(c, stream, {1, 2}));
  std::fill(in.tables[1].values.begin(), in.tables[1].values.end(), 0.0F);
  const RelativeOutputs got = run_relative(scalar_kernel(), *c.encoding, in);
  const double mean = (1 + static_cast<double>(keys - 1) * double{little}) / static_cast<double>(keys);
  const QueryTruth truth =
      query_truth(std::vector<Wide>(static_cast<std::size_t>(keys), Wide(0)),
                  std::vector<double>(static_cast<std::size_t>(keys), logit_bound(4, 1, 0)), 2);
  const auto value = [&](std::size_t j) { return double{in.v.in[2 * j]}; };
  const OutTruth out = out_truth(truth, value, value);
  EXPECT_NEAR(out.exact, mean, 1e-18);
  const double lost = std::fabs(got.out[0] - out.exact);
  EXPECT_LE(lost, out.limit);
  EXPECT_GT(lost, out.limit / 7);
}

// Transformer-XL's score loses as much, against a bound of 4 D terms.
TEST(relative_law, a_score_with_biases_comes_within_five_of_its_bound) {
  const std::int64_t channels = 1024;
  const float little = 0x1.ffcp-25F;
  Case c;
  c.encoding = TransformerXl{2, -1, TransformerXl::Form::conformer};
  c.head_dim = channels;
  c.positions = {0};
  c.mode = InputMode::ones;
  RelativeInputs in = relative_inputs(c);
  for (const int stream : {3, 4, 5}) in.tables.push_back(drawn_table(c, stream, {1, 1, channels}));
  for (std::size_t table : {0, 1}) {
    in.tables[table].shape = {1, channels};
    std::fill(in.tables[table].values.begin(), in.tables[table].values.end(), 0.0F);
  }
  for (std::vector<float>* x : {&in.k.in, &in.tables[2].values}) std::fill(x->begin() + 1, x->end(), little);
  const RelativeOutputs got = run_relative(scalar_kernel(), *c.encoding, in);
  const double exact = 2 * (1 + static_cast<double>(channels - 1) * double{little}) * in.scale;
  const double bound = logit_bound(4 * channels, 1, exact), error = std::fabs(got.scores[0] - exact);
  EXPECT_LE(error, bound);
  EXPECT_GT(error, bound / 5);
}

// Whatever shrinking makes of a case is legal for the laws that have keys of their own: the right kernel
// keeps it, or it is no case of the law.
TEST(relative_law, shrunk_cases_are_legal) {
  Truths truths;
  const Kernel kernel = scalar_kernel();
  for (const Law& law : {shaw_clipping(), shaw_attention(), transformer_xl_shift(), transformer_xl_rows(),
                         causal_mask_breaks_symmetry(), packed_equals_separate(), nope_layers()}) {
    for (const Encoding& encoding :
         {Encoding(Shaw{2, 1, true}), Encoding(TransformerXl{8, 3, {}}), Encoding(Nope{})}) {
      const auto space = law.space(encoding, 64, 1);
      if (!space) continue;
      (void)shrink(draw_case(*space, 7, 1), [&](const Case& c) {
        const Outcome outcome =
            run_trial(law, {c, law.operations.front(), kernel, claimed_contract(kernel), truths});
        EXPECT_TRUE(outcome.verdict == Verdict::pass || outcome.verdict == Verdict::unsupported)
            << law.id << " " << to_string(outcome.verdict) << " " << outcome.reason << " " << to_string(c);
        return true;
      });
    }
  }
}

}  // namespace
}  // namespace sextant
