#include "sextant/props/law_test.hpp"
#include "sextant/reference/distance.hpp"

namespace sextant {
namespace {

TEST(rope_group, truth) {
  const WorkingDigits scope(60);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 70000);
    const Interval& factor = f.attention_factor;
    const auto row = [&](std::int64_t position) { return table_row(f, position, TableForm::half); };
    const TableRow<Interval> a = row(65520), b = row(777), sum = row(66297), back = row(-777), still = row(0);
    for (std::size_t i = 0; i < a.cos.size(); ++i) {
      EXPECT_TRUE(meet(a.cos[i] * b.cos[i] - a.sin[i] * b.sin[i], factor * sum.cos[i]));
      EXPECT_TRUE(meet(a.cos[i] * b.sin[i] + a.sin[i] * b.cos[i], factor * sum.sin[i]));
      EXPECT_TRUE(meet(back.cos[i], b.cos[i]));
      EXPECT_TRUE(meet(back.sin[i], -b.sin[i]));
      EXPECT_TRUE(meet(still.cos[i], factor));
      EXPECT_TRUE(meet(still.sin[i], Interval(0)));
    }
  }
}

TEST(rope_group, kernel) {
  expect_kept(rope_group());
  for (const Operation operation : rope_group().operations) {
    const Trials trials = run_trials(rope_group(), operation, scalar_kernel(), law_encodings(), 20,
                                     parse_contract("f32-angle"));
    EXPECT_EQ(trials.failed, 0);
    EXPECT_GT(trials.measure.share(), 0.25) << to_string(operation);
  }
}

/// The textbook kernel whose tables stand at other positions.
Kernel tables_misplaced(const std::function<std::int64_t(std::int64_t)>& place) {
  Kernel kernel = scalar_kernel();
  kernel.tables = [right = kernel.tables, place](const TablesCall& call) {
    std::vector<std::int64_t> positions;
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s)
      positions.push_back(place(call.positions.as<const std::int64_t>()[call.positions.offset(s)]));
    right({call.encoding, call.seq_len, dense(positions.data(), DType::i64, positions.size()), call.form,
           call.cos, call.sin});
  };
  return kernel;
}

TEST(rope_group, teeth) {
  const Law law = rope_group();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto caught = [&](const std::function<std::int64_t(std::int64_t)>& place, const char* fault) {
    expect_caught(law, Operation::rotate, misplacing(place, place), plain, fault);
    expect_caught(law, Operation::tables, tables_misplaced(place), plain, fault);
  };
  caught([](std::int64_t p) { return p + 1; }, "positions from one");
  caught([](std::int64_t p) { return std::min<std::int64_t>(p, 100); }, "positions clamped");
  caught([](std::int64_t p) { return p % 2048; }, "positions wrapped");
  caught(
      [](std::int64_t p) { return static_cast<std::int64_t>(round_to(static_cast<double>(p), kBFloat16)); },
      "positions in bfloat16");
  caught([](std::int64_t p) { return std::abs(p); }, "negative positions taken as positive");

  const auto with_inputs = [](const std::function<float(float)>& change) {
    Kernel kernel = scalar_kernel();
    kernel.rotate = [right = kernel.rotate, change](const RotateCall& call) {
      std::vector<float> x(static_cast<std::size_t>(call.q.elements()));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = change(call.q.as<const float>()[i]);
      Tensor q = call.q;
      q.data = x.data();
      right({call.encoding, call.seq_len, call.layout, call.positions, q, {}, {}, call.q_out, {}, {}, {}, 0});
    };
    return kernel;
  };
  expect_caught(law, Operation::rotate,
                with_inputs([](float x) { return std::min(std::max(x, -100.0F), 100.0F); }), plain,
                "inputs clipped");
  expect_caught(law, Operation::rotate, with_inputs([](float x) { return x + 1e-3F; }), plain,
                "a bias on the inputs");
  // A bit that depends on the size of x is caught where bits are claimed.
  const Kernel bit = with_inputs([](float x) { return std::fabs(x) > 8 ? std::nextafter(x, 0.0F) : x; });
  expect_caught(law, Operation::rotate, bit, plain, "one bit for large inputs");
  // Blind to another base: its angles are linear too.
  const Kernel other_base = misreading([](Rope r) {
    r.theta *= 1.001;
    return r;
  });
  EXPECT_EQ(run_trials(law, Operation::rotate, other_base, plain).failed, 0);
  EXPECT_EQ(run_trials(law, Operation::tables, other_base, plain).failed, 0);
}

}  // namespace
}  // namespace sextant
