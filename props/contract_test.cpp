// Bounds are kept by kernels that keep the contract, and sharp: the worst seen is above a quarter of the
// bound.
#include "sextant/props/contract.hpp"

#include <fmt/format.h>

#include <set>

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

void expect_sharp(Kernel kernel, Operation operation, const std::vector<Rope>& encodings,
                  DType dtype = DType::f32, DType table = DType::f32) {
  (operation == Operation::tables ? kernel.capabilities.tables : kernel.capabilities.inputs) = {dtype};
  if (operation == Operation::rotate_with_tables) kernel.capabilities.tables = {table};
  Law law = rope_elementwise();
  const auto space = law.space;
  law.space = [space](const std::optional<Encoding>& encoding, std::int64_t context, std::uint64_t draw) {
    std::optional<CaseSpace> limited = space(encoding, context, draw);
    limited->max_position = 1 << 20;
    return limited;
  };
  const Trials trials = run_trials(law, operation, kernel, encodings, 60);
  EXPECT_EQ(trials.failed, 0);
  EXPECT_LE(trials.measure.share(), 1);
  EXPECT_GT(trials.measure.share(), 0.25);
  fmt::print(
      "contract {}, {} in {}{}: worst error / bound = {:.3f} over {} elements\n",
      kernel.capabilities.contract, to_string(operation), to_string(dtype),
      operation == Operation::rotate_with_tables ? fmt::format(" by tables in {}", to_string(table)) : "",
      trials.measure.share(), trials.measure.elements);
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

TEST(contract, every_named_contract_has_a_kernel_that_keeps_it_and_nearly_fills_it_in_every_dtype) {
  std::set<std::string> exercised;
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty()) continue;
    exercised.insert(kernel.capabilities.contract);
    SCOPED_TRACE(kernel.name);
    for (const DType dtype : kernel.capabilities.inputs) {
      for (const Operation operation : {Operation::rotate, Operation::rotate_backward}) {
        if (kernel.offers(operation)) expect_sharp(kernel, operation, law_encodings(), dtype);
      }
      for (const DType table : kernel.capabilities.tables) {
        if (kernel.rotate_with_tables)
          expect_sharp(kernel, Operation::rotate_with_tables, law_encodings(), dtype, table);
      }
    }
    for (const DType dtype : kernel.capabilities.tables) {
      if (kernel.tables) expect_sharp(kernel, Operation::tables, law_encodings(), dtype);
    }
  }
  for (const Contract& contract : contracts())
    EXPECT_TRUE(exercised.contains(contract.name)) << contract.name;
}

// What tells one contract from the next: a kernel of the weaker one breaks the stronger.
TEST(contract, weaker_kernels_break_stronger_contracts) {
  const auto kernel_called = [](const std::string& name) {
    for (const Kernel& kernel : scalar_kernels()) {
      if (kernel.name == name) return kernel;
    }
    throw std::logic_error(name);
  };
  const auto breaks = [&](const std::string& kernel, const char* contract) {
    return run_trials(rope_elementwise(), Operation::rotate, kernel_called(kernel), law_encodings(), 20,
                      parse_contract(contract))
               .failed > 0;
  };
  EXPECT_TRUE(breaks("scalar", "exact-angle"));
  EXPECT_TRUE(breaks("scalar/running", "f32-angle"));
  EXPECT_TRUE(breaks("scalar/approx", "f32-angle"));
  EXPECT_TRUE(breaks("scalar/bf16-table", "f32-table"));
  EXPECT_TRUE(breaks("scalar/bf16-table", "f16-table"));
  EXPECT_TRUE(breaks("scalar/f16-table", "f32-table"));
  EXPECT_TRUE(breaks("scalar/bf16-arithmetic", "bf16-table"));
  EXPECT_TRUE(breaks("scalar/f16-arithmetic", "f16-table"));
  EXPECT_FALSE(breaks("scalar/f16-table", "bf16-table"));
  EXPECT_FALSE(breaks("scalar", "f32-table"));
}

// Extremes at which formats end: no kernel that keeps its contract fails, in any law.
TEST(contract, nobody_fails_where_formats_end) {
  const std::vector<Rope> encodings = {
      rope_of("rope(dim=8,theta=10000,scaling=yarn(factor=4,original=64,attention_factor=100000))"),
      rope_of("rope(dim=8,theta=10000,scaling=yarn(factor=4,original=64,attention_factor=20000))"),
      rope_of("rope(dim=8,theta=10000,scaling=yarn(factor=4,original=64,attention_factor=1e-38))"),
      rope_of("rope(dim=8,theta=10000,scaling=yarn(factor=4,original=64,attention_factor=1e-39))"),
      rope_of("rope(dim=40,theta=0.9999955453582489,scaling=linear(factor=3.1682301988938107e-37))"),
      rope_of("rope(dim=2,theta=1.0252462977172661e-05,scaling=yarn(factor=20788.26038155935,original=1))"),
      rope_of(
          "rope(dim=4,theta=0.01012478434318419,scaling=llama3(factor=11.5,low=1,high=1.001,original=1))"),
  };
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty()) continue;
    for (const Law& law : laws()) {
      if (!law.needs_encoding) continue;
      for (const Operation operation : law.operations) {
        if (!kernel.offers(operation)) continue;
        for (const Rope& rope : encodings) {
          Truths truths;
          const Contract contract = claimed_contract(kernel);
          for (std::uint64_t draw = 0; draw < 3; ++draw) {
            const std::optional<CaseSpace> space = law.space(rope, 4096, draw);
            if (!space) continue;
            for (const DType dtype : dtypes_of(kernel, operation)) {
              Case c = draw_case(*space, 7, draw);
              c.dtype = dtype;
              c.table = dtype;
              const Outcome outcome = run_trial(law, {c, operation, kernel, contract, truths});
              EXPECT_NE(outcome.verdict, Verdict::fail)
                  << kernel.name << " " << law.id << " " << to_string(c);
              EXPECT_NE(outcome.verdict, Verdict::crashed) << outcome.reason;
            }
          }
        }
      }
    }
  }
}

TEST(contract, given_table_claims_nothing_of_angles) {
  Truths truths;
  const Law law = rope_elementwise();
  const Kernel kernel = scalar_kernel();
  const Case c = draw_case(*law.space(rope_of("rope(dim=16,theta=10000)"), 4096, 0), 1, 0);
  const Contract given = parse_contract("given-table");
  EXPECT_EQ(run_trial(law, {c, Operation::rotate, kernel, given, truths}).verdict, Verdict::mistrusted);
  EXPECT_EQ(run_trial(law, {c, Operation::rotate_with_tables, kernel, given, truths}).verdict, Verdict::pass);
}

TEST(contract, the_text_form_parses_back_and_bad_ones_are_refused_in_one_line) {
  for (const Contract& contract : contracts()) {
    const Contract again = parse_contract(contract.title());
    EXPECT_EQ(again.title(), contract.title());
    EXPECT_EQ(parse_contract(again.name).title(), contract.title());
  }
  EXPECT_EQ(parse_contract("contract(frequency=exact,angle=exact)").title(),
            parse_contract("exact-angle").title());
  EXPECT_EQ(parse_contract("contract()").title(), parse_contract("f32-angle").title());
  EXPECT_EQ(parse_contract("contract(trig=2.5ulp)").trig_ulp, 2.5);
  EXPECT_TRUE(parse_contract("contract(bits=exact)").bits_exact);
  for (const char* bad :
       {"contract(", "contract(frequency)", "contract(frequency=f64)", "contract(size=1)",
        "contract(trig=ulp)", "contract(trig=-1ulp)", "contract(trig=1)", "contract(output=i32)",
        "contract(table=f64)", "contract(table=f32,table=bf16)", "exact", "", "+bits"}) {
    try {
      (void)parse_contract(bad);
      ADD_FAILURE() << bad;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(contract, an_output_of_fewer_bits_and_flushing_widen_the_bound) {
  const Rope rope = rope_of("rope(dim=16,theta=10000)");
  const auto bound = [&](const char* text, double x) {
    const Bounds bounds(parse_contract(text), rope, 1);
    const PairBound at = bounds.pair(1, 5, 0.6, 0.8);
    return bounds.rotated(at, bounds.rotation(at, x, x, 0.6, 0.8), x * 1.4, x * 0.2, x * std::sqrt(2.0))
        .absolute;
  };
  EXPECT_GT(bound("contract(output=bf16)", 1), bound("contract(output=f16)", 1));
  EXPECT_GT(bound("contract(output=f16)", 1), bound("contract()", 1));
  EXPECT_LT(bound("contract(arithmetic=fma)", 1), bound("contract()", 1));
  EXPECT_LT(bound("contract(arithmetic=f64)", 1), bound("contract(arithmetic=fma)", 1));
  EXPECT_NEAR(bound("contract(denormals=flush)", 1) / bound("contract()", 1), 1, 1e-20);
  EXPECT_GT(bound("contract(denormals=flush)", 0x1p-120), 1.01 * bound("contract()", 0x1p-120));
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
