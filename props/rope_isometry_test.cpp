#include "sextant/props/law_test.hpp"
#include "sextant/reference/distance.hpp"

namespace sextant {
namespace {

TEST(rope_isometry, truth) {
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 5000);
    const TableRow<Interval> row = table_row(f, 4999, TableForm::half);
    for (std::size_t i = 0; i < row.cos.size(); ++i) {
      EXPECT_TRUE(
          meet(row.cos[i] * row.cos[i] + row.sin[i] * row.sin[i], f.attention_factor * f.attention_factor));
    }
  }
}

TEST(rope_isometry, kernel) {
  expect_kept(rope_isometry());
  // The slack is sharp: the textbook kernel uses more than a quarter of it.
  for (const Operation operation : rope_isometry().operations) {
    const Trials trials = run_trials(rope_isometry(), operation, scalar_kernel(), law_encodings(), 40);
    EXPECT_GT(trials.measure.share(), 0.25) << to_string(operation);
    EXPECT_LT(trials.measure.share(), 1) << to_string(operation);
  }
}

Kernel with_tables_changed(const std::function<void(float& cos, float& sin)>& change) {
  Kernel kernel = scalar_kernel();
  kernel.tables = [right = kernel.tables, change](const TablesCall& call) {
    right(call);
    for (std::int64_t i = 0; i < call.cos.elements(); ++i)
      change(call.cos.as<float>()[i], call.sin.as<float>()[i]);
  };
  return kernel;
}

TEST(rope_isometry, teeth) {
  const Law law = rope_isometry();
  // A table rounded to bfloat16 is no rotation, at any position but 0.
  const Kernel rounded = with_tables_changed([](float& cos, float& sin) {
    cos = static_cast<float>(round_to(cos, kBFloat16));
    sin = static_cast<float>(round_to(sin, kBFloat16));
  });
  Case c;
  c.encoding = rope_of("rope(dim=128,theta=500000)");
  c.head_dim = 128;
  c.seq_len = 1 << 17;
  Truths truths;
  for (const char* contract : {"exact-angle", "f32-angle"}) {
    for (std::int64_t position = 0; position < c.seq_len; position += 1 + position / 64) {
      c.positions = {position};
      const Outcome outcome =
          run_trial(law, {c, Operation::tables, rounded, parse_contract(contract), truths});
      EXPECT_EQ(outcome.verdict, position == 0 ? Verdict::pass : Verdict::fail) << contract << position;
    }
  }

  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const std::vector<Rope> yarn = {rope_of("rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))")};
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  std::get<scaling::Yarn>(r.scaling).attention_factor = 1;
                  return r;
                }),
                yarn, "attention factor left out");
  expect_caught(law, Operation::tables, with_tables_changed([](float&, float& sin) { sin *= 1.000001F; }),
                plain, "sin alone scaled");
  Kernel shared = scalar_kernel();
  shared.rotate = [right = shared.rotate](const RotateCall& call) {
    right(call);
    for (std::int64_t i = 0; i < call.q_out.elements(); ++i)
      call.q_out.as<float>()[i] = static_cast<float>(round_to(call.q_out.as<float>()[i], kBFloat16));
  };
  expect_caught(law, Operation::rotate, shared, plain, "results in bfloat16");
  // Blind to a rotation by another angle.
  const auto next = [](std::int64_t p) { return p + 1; };
  EXPECT_EQ(run_trials(law, Operation::rotate, misplacing(next, next), plain).failed, 0);
}

TEST(rope_isometry, a_bf16_table_under_f32_table_fails_at_every_position_but_0) {
  Kernel kernel;
  for (const Kernel& recipe : scalar_kernels()) {
    if (recipe.name == "scalar/bf16-table") kernel = recipe;
  }
  Truths truths;
  const Law law = rope_isometry();
  Case c = draw_case(*law.space(rope_of("rope(dim=128,theta=10000)"), 4096, 0), 1, 0);
  for (std::int64_t position = 0; position < 400; ++position) {
    c.positions = {position};
    const Outcome outcome =
        run_trial(law, {c, Operation::tables, kernel, parse_contract("f32-table"), truths});
    EXPECT_EQ(outcome.verdict == Verdict::fail, position != 0) << position;
  }
}

}  // namespace
}  // namespace sextant
