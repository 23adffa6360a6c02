// The gate stops what got worse by a single bit, tells what got better, and never compares what is not the
// same.
#include "sextant/reports/gate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "sextant/fixtures/kernels/named.hpp"
#include "sextant/fixtures/layout.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/example_run_test.hpp"

namespace sextant {
namespace {

Gate gated(const Run& run, const Run& baseline = example_run()) {
  return compare(run, baseline, "run.json", "base.json");
}

TEST(gate, a_run_is_no_worse_than_itself) {
  const Gate gate = gated(example_run());
  EXPECT_EQ(exit_status(gate), 0);
  EXPECT_EQ(gate.drift.size() + gate.improvements.size() + gate.notes.size(), 0u);
  EXPECT_EQ(gate.verdicts, 5u);      // one is unsupported in both
  EXPECT_EQ(gate.measures, 3 + 8u);  // three verdicts have one; two tables have three octaves and a mean
}

TEST(gate, a_verdict_that_got_worse_is_told_with_witness_and_replay) {
  auto run = example_run();
  VerdictRecord& record = run.result.verdicts[0];
  record.verdict = Verdict::fail;
  record.replay = "law=x kernel=y";
  const Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(exit_status(gate), 1);
  EXPECT_EQ(gate.drift[0].key, "simd/AVX2 rope_elementwise rotate f32 llama-2-7b");
  EXPECT_TRUE(gate.drift[0].before.starts_with("pass"));
  EXPECT_TRUE(gate.drift[0].after.starts_with("fail"));
  EXPECT_EQ(gate.drift[0].witness->position, 7);
  EXPECT_EQ(gate.drift[0].replay, "sextant replay 'law=x kernel=y'");
  const Gate back = gated(example_run(), run);
  EXPECT_EQ(exit_status(back), 0);
  EXPECT_EQ(back.improvements.size(), 1u);
}

TEST(gate, losing_a_check_is_worse_than_passing_and_better_than_failing) {
  auto run = example_run();
  run.result.verdicts[0].verdict = Verdict::unavailable;
  EXPECT_EQ(exit_status(gated(run)), 1);
  run = example_run();
  run.result.verdicts[1].verdict = Verdict::mistrusted;  // of fail
  EXPECT_EQ(gated(run).improvements.size(), 1u);
}

TEST(gate, a_measure_that_got_worse_by_one_bit_is_stopped_unless_it_is_allowed) {
  auto run = example_run();
  double& worst = run.result.verdicts[0].measure.worst;
  worst = std::nextafter(worst, 2.0);
  const Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(gate.drift[0].before, "pass, 0.833333 of its bound (1.25 pair_ulp, bound 1.5)");
  EXPECT_EQ(gate.drift[0].after, "pass, 0.833333 of its bound (1.2500000000000002 pair_ulp, bound 1.5)");
  EXPECT_EQ(
      gate.drift[0].replay,
      "sextant verify --kernel simd/AVX2 --law rope_elementwise --operation rotate --dtype f32 --encoding "
      "'rope(dim=8,theta=10000)' --seed 7 --cases 2");
  EXPECT_EQ(exit_status(gated(example_run(), run)), 0);
  auto baseline = example_run();
  baseline.allowances = {{"simd/*", "rope_*", 1e-9, "rounding of another compiler"}};
  EXPECT_EQ(exit_status(gated(run, baseline)), 0);
  worst = 1.4;
  EXPECT_EQ(exit_status(gated(run, baseline)), 1);
  baseline.allowances[0].kernel = "mine";
  baseline.allowances[0].relative = 100;
  EXPECT_EQ(exit_status(gated(run, baseline)), 1);
}

TEST(gate, tables_that_drift_further_are_stopped) {
  auto run = example_run();
  DriftRecord::Octave& octave = run.result.drift[1].by_octave[2];
  octave.max_abs = std::nextafter(octave.max_abs, 1.0);
  EXPECT_EQ(exit_status(gated(run)), 1);
  run = example_run();
  ++run.result.drift[1].sum.low;  // 2^-16 ulp more in all
  const Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(gate.drift[0].replay,
            "sextant sweep 'rope(dim=8,theta=10000)' --kernel simd/AVX2 --seq-len 4 --positions 0:4");
}

TEST(gate, what_disappeared_is_told_once) {
  auto run = example_run();
  std::erase_if(run.result.verdicts, [](const VerdictRecord& record) { return record.kernel == "mine"; });
  Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(gate.drift[0].key, "kernel mine");
  EXPECT_EQ(gate.drift[0].before, "3 verdicts");
  run = example_run();
  run.result.verdicts.erase(run.result.verdicts.begin() + 4);
  gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(gate.drift[0].key, "law repeatability");
  run = example_run();
  run.result.verdicts[5].law = "repeatability";
  run.result.verdicts[5].model = "llama-2-7b";
  run.result.verdicts[5].operation = Operation::tables;
  run.result.verdicts.push_back(run.result.verdicts[5]);
  run.result.verdicts.back().law = "longrope_switch";
  gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 1u);
  EXPECT_EQ(gate.drift[0].key, "model phi-3");
}

TEST(gate, a_new_verdict_is_stopped_where_it_is_bad) {
  auto baseline = example_run();
  baseline.result.verdicts.erase(baseline.result.verdicts.begin());  // passes
  const Gate gate = gated(example_run(), baseline);
  EXPECT_EQ(exit_status(gate), 0);
  EXPECT_EQ(gate.notes.size(), 1u);
  baseline = example_run();
  baseline.result.verdicts.erase(baseline.result.verdicts.begin() + 1);  // fails
  EXPECT_EQ(exit_status(gated(example_run(), baseline)), 1);
}

TEST(gate, a_truth_that_failed_and_a_required_kernel_that_is_missing_stop_first) {
  auto run = example_run();
  run.result.audit.worst_share = 2;
  run.missing = {{"cuda", "no device"}};
  run.result.verdicts[0].verdict = Verdict::fail;
  const Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 3u);
  EXPECT_EQ(gate.drift[0].key, "audit of the truth against MPFR");
  EXPECT_EQ(gate.drift[1].key, "required kernel cuda");
  EXPECT_EQ(gated(run, run).drift.size(),
            1u);  // that the kernel is missing is known; no truth is known to fail
}

TEST(gate, a_contract_that_was_exchanged_is_stopped) {
  auto run = example_run();
  run.result.verdicts[0].contract = "f32-approx";
  EXPECT_EQ(gated(run).drift.at(0).after, "judged by f32-approx");
}

TEST(gate, measures_are_compared_only_where_inputs_and_machine_are_the_same) {
  auto worse = example_run();
  worse.result.verdicts[0].measure.worst = 1.4;
  ASSERT_EQ(exit_status(gated(worse)), 1);
  const auto not_compared = [&](const std::function<void(sextant::Run&)>& change, const char* why) {
    auto run = worse;
    change(run);
    const Gate gate = gated(run);
    EXPECT_EQ(exit_status(gate), 0);
    EXPECT_EQ(gate.notes.size(), 1u) << why;
    EXPECT_NE(gate.notes.at(0).find(why), std::string::npos) << gate.notes[0];
    EXPECT_EQ(gate.verdicts, 5u);
    return gate.measures;
  };
  EXPECT_EQ(not_compared([](sextant::Run& run) { run.environment.libm_fingerprint.resize(3); }, "libm"), 0u);
  EXPECT_EQ(not_compared([](sextant::Run& run) { run.seed = 8; }, "seed"), 0u);
  EXPECT_EQ(not_compared([](sextant::Run& run) { run.version.resize(1); }, "version"), 0u);
  EXPECT_EQ(not_compared([](sextant::Run& run) { run.arguments = "--cases 3"; }, "options"), 0u);
  EXPECT_EQ(not_compared([](sextant::Run& run) { run.result.verdicts[0].encoding = "rope(dim=8,theta=10)"; },
                         "encodings"),
            10u);
  // Another machine: code of AVX2 is the same there, other kernels may not be.
  auto run = worse;
  run.environment.targets = {"AVX2"};
  const Gate gate = gated(run);
  EXPECT_EQ(exit_status(gate), 1);
  EXPECT_EQ(gate.measures, 2 + 4u);
  EXPECT_NE(gate.notes.at(0).find("of mine were NOT compared"), std::string::npos);
}

TEST(gate, a_measure_that_disappeared_is_worse_than_any) {
  auto run = example_run();
  run.result.verdicts[0].measure.witness.reset();
  EXPECT_EQ(gated(run).drift.at(0).after, "pass, and measured no more");
  run = example_run();
  run.result.drift.clear();
  Gate gate = gated(run);
  ASSERT_EQ(gate.drift.size(), 2u);
  EXPECT_EQ(gate.drift[0].key, "mine drift of tables, llama-2-7b");
  EXPECT_EQ(gate.drift[0].after, "disappeared");
  run = example_run();
  run.result.drift[0].by_octave.pop_back();
  EXPECT_EQ(exit_status(gated(run)), 1);
  run = example_run();
  run.result.verdicts[0].measure.elements = 0;
  gate = gated(run);
  EXPECT_EQ(exit_status(gate), 0);
  EXPECT_EQ(gate.notes.at(0), "1 verdicts rest on fewer elements than in the baseline");
}

TEST(gate, laws_that_all_disappeared_are_drift_though_nothing_is_left_to_compare) {
  auto run = example_run();
  for (VerdictRecord& record : run.result.verdicts) record.law.insert(0, "other_");
  for (VerdictRecord& record : run.result.verdicts) record.verdict = Verdict::pass;
  const Gate gate = gated(run);
  EXPECT_EQ(gate.verdicts, 0u);
  EXPECT_EQ(exit_status(gate), 1);
}

TEST(gate, nothing_comparable_is_exit_3_and_other_kernels_are_refused) {
  auto run = example_run();
  for (VerdictRecord& record : run.result.verdicts) record.verdict = Verdict::unavailable;
  EXPECT_EQ(exit_status(gated(run, run)), 3);
  EXPECT_NE(to_text(gated(run, run), false).find("nothing comparable"), std::string::npos);
  for (VerdictRecord& record : run.result.verdicts) record.kernel = "yours";
  try {
    (void)gated(run);
    FAIL();
  } catch (const InputError& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("mine, simd/AVX2"), std::string::npos) << line;
    EXPECT_NE(line.find("yours"), std::string::npos) << line;
  }
}

TEST(gate, commands_are_words_of_a_shell_whatever_a_name_holds) {
  auto run = example_run();
  run.result.verdicts[0].kernel = "a'; touch x; '";
  EXPECT_TRUE(command_of(run.result.verdicts[0], run)
                  .starts_with("sextant verify --kernel 'a'\\''; touch x; '\\''' --law rope_elementwise"));
}

Run measured(const Kernel& kernel) {
  auto run = example_run();
  SuiteOptions options;
  options.kernels = {kernel};
  options.subjects = {{"small", parse_encoding("rope(dim=16,theta=10000)"), 4096}};
  options.laws = {find_law("rope_elementwise")};
  options.cases = 2;
  run.result = run_suite(options);
  return run;
}

TEST(gate, one_ulp_planted_in_one_entry_of_a_kernel_is_stopped) {
  // Its entries are correctly rounded: any other bits are worse.
  const Kernel simd = named_kernel("simd");
  const auto baseline = measured(simd);
  EXPECT_EQ(exit_status(gated(measured(simd), baseline)), 0);
  Kernel planted = simd;
  planted.tables = [&](const TablesCall& call) {
    simd.tables(call);
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      if (position_at(call.positions, 0, s) != 4095 || call.cos.dtype != DType::f32) continue;
      float& entry = call.cos.as<float>()[call.cos.offset(s, 5)];
      entry = std::nextafter(entry, 2.0F);
    }
  };
  const Gate gate = gated(measured(planted), baseline);
  EXPECT_EQ(exit_status(gate), 1) << to_text(gate, false);
  EXPECT_NE(to_text(gate, false).find("sextant sweep"), std::string::npos);
}

}  // namespace
}  // namespace sextant
