#include "sextant/props/conduct_test.hpp"

#include "sextant/fixtures/kernels/simd/simd.hpp"

namespace sextant {
namespace {

const Kernel& other_kernel() {
  for (const Kernel& kernel : own_kernels()) {
    if (kernel.name.starts_with("simd/") && kernel.unavailable.empty() && kernel.rotate_with_tables)
      return kernel;
  }
  throw std::logic_error("no SIMD kernel runs here");
}

/// The textbook kernel, except that calls in place and of one table row are answered by a SIMD kernel, times
/// `gain`.
Kernel mixed(float gain) {
  Kernel kernel = scalar_kernel();
  const Kernel other = other_kernel();
  const auto stretch = [gain](const Tensor& out) {
    for (std::int64_t i = 0; i < out.elements(); ++i) out.as<float>()[i] *= gain;
  };
  kernel.rotate = [=, right = kernel.rotate](const RotateCall& call) {
    if (call.q.data != call.q_out.data) return right(call);
    other.rotate(call);
    stretch(call.q_out);
  };
  kernel.rotate_with_tables = [=, right = kernel.rotate_with_tables](const RotateWithTablesCall& call) {
    if (call.rotate.q.data != call.rotate.q_out.data) return right(call);
    other.rotate_with_tables(call);
    stretch(call.rotate.q_out);
  };
  kernel.tables = [=, right = kernel.tables](const TablesCall& call) {
    if (call.positions.dim(0) != 1) return right(call);
    other.tables(call);
    stretch(call.cos);
  };
  return kernel;
}

// Two kernels of different precision agree within the bounds of both sides, which a gain of a few units
// breaks.
TEST(conduct, results_that_differ_in_bits_are_judged_by_twice_the_bound) {
  const Contract loose = parse_contract("f32-angle");
  const std::vector<Rope> encodings = {rope_of("rope(dim=16,theta=10000)"),
                                       rope_of("rope(dim=8,theta=500000,pairing=interleaved)")};
  for (const auto& [law, operation] :
       {std::pair{in_place(), Operation::rotate}, std::pair{in_place(), Operation::rotate_with_tables},
        std::pair{shapes(), Operation::tables}}) {
    const Trials kept = run_trials(law, operation, mixed(1), encodings, 400, loose);
    EXPECT_EQ(kept.failed, 0) << to_string(operation) << kept.measure.share();
    EXPECT_GT(kept.passed, 100) << to_string(operation);
    EXPECT_GT(kept.measure.share(), 0.25) << to_string(operation);
    EXPECT_GT(run_trials(law, operation, mixed(1 + 0x1p-20F), encodings, 20, loose).failed, 0)
        << to_string(operation);
  }
}

TEST(conduct, positions_of_both_types_are_drawn) {
  int narrow = 0;
  constexpr int kCases = 100;
  for (std::uint64_t i = 0; i < kCases; ++i) {
    const Case c = draw_case(*behaviour_space(rope_of("rope(dim=16,theta=10000)"), 4096, i), 1, i);
    if (usual_placement(scalar_kernel(), c).positions == DType::i32) ++narrow;
  }
  EXPECT_GT(narrow, kCases / 4);
  EXPECT_LT(narrow, 3 * kCases / 4);
  Case far;
  far.positions = {std::int64_t{1} << 31};
  for (far.seed = 0; far.seed < 8; ++far.seed)
    EXPECT_EQ(usual_placement(scalar_kernel(), far).positions, DType::i64);
}

TEST(conduct, layouts_and_gaps_hold_the_same_rows) {
  Case c =
      parse_case("encoding=rope(dim=4,theta=10000) batch=2 heads=3 kv_heads=3 positions=0,0 mode=normal");
  Truths truths;
  const Kernel kernel = scalar_kernel();
  const Contract contract = claimed_contract(kernel);
  const Task task = task_of({c, Operation::rotate, kernel, contract, truths});
  for (const Layout layout : kernel.capabilities.layouts) {
    Placement at;
    at.layout = layout;
    at.gap = 5;
    at.shift = 3;
    // At position 0 a rotation is the identity, so the rows come out as they went in.
    EXPECT_EQ(outputs_of(kernel, task, at)[0].values, task.q) << to_string(layout);
    EXPECT_EQ(outputs_of(kernel, task, at)[1].values, task.k) << to_string(layout);
  }
}

}  // namespace
}  // namespace sextant
