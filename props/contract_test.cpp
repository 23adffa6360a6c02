// Bounds are kept by kernels that keep the contract, and sharp: the worst seen is above a quarter of the
// bound.
#include "sextant/props/contract.hpp"

#include "sextant/props/law_test.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

/// Angles in double and one rounding of cos and sin: exact-angle as long as positions are small, below 2^20.
Kernel double_angle_kernel() {
  Kernel kernel = scalar_kernel();
  kernel.name = "double-angle";
  kernel.capabilities.contract = "exact-angle";
  const auto row = [](const Encoding& encoding, std::int64_t seq_len, std::int64_t position) {
    return table_row(frequencies<double>(std::get<Rope>(encoding), seq_len), position, TableForm::half);
  };
  kernel.tables = [=](const TablesCall& call) {
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      const TableRow<double> exact =
          row(call.encoding, call.seq_len, call.positions.as<const std::int64_t>()[s]);
      for (std::size_t i = 0; i < exact.cos.size(); ++i) {
        call.cos.as<float>()[call.cos.offset(s, i)] = static_cast<float>(exact.cos[i]);
        call.sin.as<float>()[call.sin.offset(s, i)] = static_cast<float>(exact.sin[i]);
      }
    }
  };
  kernel.rotate = [=](const RotateCall& call) {
    const auto& rope = std::get<Rope>(call.encoding);
    for (const auto& [in, out] : {std::pair{call.q, call.q_out}, std::pair{call.k, call.k_out}}) {
      for (std::int64_t b = 0; b < in.dim(0); ++b) {
        for (std::int64_t s = 0; s < in.dim(1); ++s) {
          const TableRow<double> exact =
              row(call.encoding, call.seq_len, call.positions.as<const std::int64_t>()[s]);
          for (std::int64_t h = 0; h < in.dim(2); ++h) {
            const float* x = in.as<const float>() + in.offset(b, s, h);
            float* y = out.as<float>() + out.offset(b, s, h);
            std::copy(x, x + rope.head_dim, y);
            for (std::int64_t i = 0; i < rope.pairs(); ++i) {
              const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
              const auto c = static_cast<float>(exact.cos[static_cast<std::size_t>(i)]);
              const auto n = static_cast<float>(rope.direction * exact.sin[static_cast<std::size_t>(i)]);
              const Pair<float> turned = rotate_pair(x[at.in_a], x[at.in_b], c, n);
              y[at.out_a] = turned.a;
              y[at.out_b] = turned.b;
            }
          }
        }
      }
    }
  };
  return kernel;
}

void expect_sharp(const Kernel& kernel, Operation operation, const std::vector<Rope>& encodings) {
  Law law = rope_elementwise();
  const auto space = law.space;
  law.space = [space](const std::optional<Rope>& rope, std::int64_t context, std::uint64_t draw) {
    std::optional<CaseSpace> limited = space(rope, context, draw);
    limited->max_position = 1 << 20;
    return limited;
  };
  const Trials trials = run_trials(law, operation, kernel, encodings, 60);
  EXPECT_EQ(trials.failed, 0);
  EXPECT_LE(trials.measure.share(), 1);
  EXPECT_GT(trials.measure.share(), 0.25);
  std::printf("contract %s, %s: worst error / bound = %.3f over %lld elements\n",
              kernel.capabilities.contract.c_str(), std::string(to_string(operation)).c_str(),
              trials.measure.share(), static_cast<long long>(trials.measure.elements));
}

TEST(contract, f32_angle_is_kept_and_sharp_for_every_scaling) {
  for (const Rope& rope : law_encodings()) {
    SCOPED_TRACE(to_string(Encoding(rope)));
    expect_sharp(scalar_kernel(), Operation::rotate, {rope});
    expect_sharp(scalar_kernel(), Operation::tables, {rope});
  }
}

TEST(contract, exact_angle_is_kept_and_sharp) {
  for (const Rope& rope : law_encodings()) {
    SCOPED_TRACE(to_string(Encoding(rope)));
    expect_sharp(double_angle_kernel(), Operation::rotate, {rope});
    expect_sharp(double_angle_kernel(), Operation::tables, {rope});
  }
}

TEST(contract, the_textbook_kernel_leaves_exact_angle) {
  const Trials trials =
      run_trials(rope_elementwise(), Operation::tables, scalar_kernel(),
                 {rope_of("rope(dim=128,theta=500000)")}, 10, parse_contract("exact-angle"));
  EXPECT_GT(trials.failed, 5);
}

TEST(contract, beyond_an_eighth_of_the_pair_norm_nothing_is_claimed) {
  const Rope rope = rope_of("rope(dim=128,theta=10000)");
  const Bounds bounds(parse_contract("f32-angle"), rope, 1);
  const auto claims = [&](std::int64_t position) {
    const PairBound at = bounds.pair(1, position, 0.6, 0.8);
    return bounds.table_entry(at, at.cos, 0.6, 0.8).claim;
  };
  EXPECT_TRUE(claims(131071));
  EXPECT_FALSE(claims((std::int64_t{1} << 31) - 1));
  const Bounds exact(parse_contract("exact-angle"), rope, 1);
  const PairBound at = exact.pair(1, (std::int64_t{1} << 31) - 1, 0.6, 0.8);
  EXPECT_TRUE(exact.table_entry(at, at.cos, 0.6, 0.8).claim);
}

TEST(contract, pair_0_has_no_angle_error_until_positions_round) {
  const Bounds bounds(parse_contract("f32-angle"), rope_of("rope(dim=128,theta=10000)"), 1);
  EXPECT_EQ(bounds.pair(0, 1 << 24, 1, 0).angle, 0);
  EXPECT_GT(bounds.pair(0, (1 << 24) + 1, 1, 0).angle, 0);
  EXPECT_GT(bounds.pair(1, 3, 1, 0).angle, 0);
  EXPECT_EQ(bounds.pair(1, 0, 1, 0).angle, 0);
}

TEST(contract, unknown_names_are_refused) { EXPECT_THROW((void)parse_contract("exact"), InputError); }

}  // namespace
}  // namespace sextant
