#include "sextant/props/suite.hpp"

#include <cfenv>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

SuiteOptions small_suite(std::vector<Kernel> kernels) {
  SuiteOptions options;
  options.kernels = std::move(kernels);
  options.subjects = {{"tiny", rope_of("rope(dim=16,theta=10000)"), 4096}};
  options.laws = laws();
  options.cases = 4;
  return options;
}

TEST(suite, the_textbook_kernel_passes_every_law_and_the_same_seed_gives_the_same_result) {
  const SuiteResult first = run_suite(small_suite({scalar_kernel()}));
  const SuiteResult second = run_suite(small_suite({scalar_kernel()}));
  ASSERT_EQ(first.verdicts.size(), second.verdicts.size());
  for (std::size_t i = 0; i < first.verdicts.size(); ++i) {
    EXPECT_EQ(first.verdicts[i].verdict, Verdict::pass) << first.verdicts[i].law;
    EXPECT_EQ(first.verdicts[i].measure.worst, second.verdicts[i].measure.worst);
  }
}

TEST(suite, a_failure_comes_with_a_shrunk_replay_that_fails_again) {
  Kernel faulty = misreading([](Rope r) {
    r.theta += 1;
    return r;
  });
  faulty.name = "scalar";  // so that the replay can be run here
  const SuiteResult result = run_suite(small_suite({faulty}));
  int failed = 0;
  for (const VerdictRecord& record : result.verdicts) {
    if (record.verdict != Verdict::fail) continue;
    ++failed;
    const Replay replay = parse_replay(record.replay);
    EXPECT_EQ(to_string(replay), record.replay);
    EXPECT_EQ(run_replay(replay, faulty).verdict, Verdict::fail) << record.replay;
    EXPECT_EQ(replay.c.batch, 1);
    if (record.law == "rope_elementwise" && record.operation == Operation::rotate) {
      EXPECT_EQ(replay.c.tokens(), 1) << record.replay;
      EXPECT_EQ(replay.c.heads, 1) << record.replay;
    }
  }
  EXPECT_GE(failed, 3);
}

TEST(suite, what_the_suite_lacks_ends_the_run) {
  Kernel kernel = scalar_kernel();
  kernel.rotate = [](const RotateCall&) { throw OutOfResources("cannot start a worker"); };
  EXPECT_THROW((void)run_suite(small_suite({kernel})), OutOfResources);
}

TEST(suite, a_kernel_that_throws_is_crashed_or_unsupported_and_the_run_goes_on) {
  Kernel throwing = scalar_kernel();
  throwing.name = "throwing";
  throwing.rotate = [](const RotateCall&) { throw std::runtime_error("boom"); };
  Kernel refusing = scalar_kernel();
  refusing.name = "refusing";
  refusing.rotate = [](const RotateCall&) { throw Refused("not today"); };
  Kernel fussy = scalar_kernel();
  fussy.name = "fussy";
  fussy.rotate = [](const RotateCall&) { throw InputError("no such thing"); };
  Kernel absent = scalar_kernel();
  absent.name = "absent";
  absent.unavailable = "no such device";
  const SuiteResult result = run_suite(small_suite({throwing, refusing, fussy, absent, scalar_kernel()}));
  for (const VerdictRecord& record : result.verdicts) {
    if (record.kernel == "scalar") {
      EXPECT_EQ(record.verdict, Verdict::pass);
    }
    if (record.kernel == "absent") {
      EXPECT_EQ(record.verdict, Verdict::unavailable);
    }
    if (record.operation != Operation::rotate) continue;
    if (record.kernel == "throwing") {
      EXPECT_EQ(record.verdict, Verdict::crashed);
      EXPECT_EQ(record.reason, "boom");
    }
    if (record.kernel == "fussy") {
      EXPECT_EQ(record.verdict, Verdict::crashed);
      EXPECT_EQ(record.reason, "no such thing");
    }
    if (record.kernel == "refusing") {
      EXPECT_EQ(record.verdict, Verdict::unsupported);
    }
  }
}

TEST(suite, a_kernel_that_leaves_the_rounding_mode_changed_fails_and_harms_nobody) {
  Kernel upward = scalar_kernel();
  upward.name = "upward";
  upward.rotate = [right = upward.rotate](const RotateCall& call) {
    right(call);
    std::fesetround(FE_UPWARD);
  };
  const SuiteResult result = run_suite(small_suite({upward, scalar_kernel()}));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  for (const VerdictRecord& record : result.verdicts) {
    if (record.kernel == "scalar") {
      EXPECT_EQ(record.verdict, Verdict::pass) << record.law;
    } else if (record.operation == Operation::rotate && record.cases > 0) {
      EXPECT_TRUE(record.verdict == Verdict::fail || record.verdict == Verdict::unsupported) << record.law;
    }
  }
}

TEST(suite, a_fixed_shape_holds_for_large_cases_too) {
  SuiteOptions options = small_suite({scalar_kernel()});
  options.laws = {find_law("rope_elementwise")};
  options.shape = Shape{1, 3, 2};
  options.cases = 40;
  const SuiteResult result = run_suite(options);
  EXPECT_EQ(result.positions, 3 * result.cases);
}

TEST(suite, a_name_that_would_break_a_replay_is_refused) {
  for (const char* name : {"", "two words", "tab\t", "\xff"}) {
    Kernel kernel = scalar_kernel();
    kernel.name = name;
    EXPECT_THROW((void)run_suite(small_suite({kernel})), InputError);
  }
}

TEST(suite, a_case_that_timed_out_is_crashed_with_its_replay_and_not_shrunk) {
  int calls = 0;
  Kernel slow = scalar_kernel();
  slow.rotate = [&](const RotateCall&) {
    ++calls;
    throw TimedOut("no answer within 10 s");
  };
  SuiteOptions options = small_suite({slow});
  options.laws = {find_law("rope_elementwise")};
  std::int64_t cases = 0;
  for (const VerdictRecord& record : run_suite(options).verdicts) {
    if (record.operation != Operation::rotate) continue;
    cases += record.cases;
    EXPECT_EQ(record.verdict, Verdict::crashed);
    EXPECT_EQ(record.reason, "no answer within 10 s");
    EXPECT_EQ(run_replay(parse_replay(record.replay), slow).verdict, Verdict::crashed);
    --calls;
  }
  EXPECT_GT(cases, 0);
  EXPECT_EQ(calls, cases);  // the first of each case, and no more
}

TEST(suite, what_lies_outside_a_kernels_capabilities_is_never_sent) {
  Kernel narrow = scalar_kernel();
  narrow.capabilities.pairings = {Pairing::interleaved};
  narrow.capabilities.max_position = 1000;
  narrow.capabilities.negative_positions = false;
  narrow.rotate = [right = narrow.rotate](const RotateCall& call) {
    EXPECT_EQ(std::get<Rope>(call.encoding).pairing, Pairing::interleaved);
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      const std::int64_t position = position_at(call.positions, 0, s);
      EXPECT_TRUE(position >= 0 && position <= 1000);
    }
    right(call);
  };
  SuiteOptions options = small_suite({narrow});
  for (const VerdictRecord& record : run_suite(options).verdicts) {
    if (record.operation == Operation::rotate) {
      EXPECT_EQ(record.verdict, Verdict::unsupported) << record.law;
    }
  }
  std::get<Rope>(options.subjects[0].encoding).pairing = Pairing::interleaved;
  for (const VerdictRecord& record : run_suite(options).verdicts) {
    if (record.law == "rope_elementwise") {
      EXPECT_EQ(record.verdict, Verdict::pass) << record.law;
    }
  }
}

TEST(suite, drift_shows_where_the_textbook_kernel_leaves_exact_angle) {
  Truths truths;
  const DriftRecord drift =
      measure_drift(scalar_kernel(), {"llama", rope_of("rope(dim=128,theta=500000)"), 131072}, truths);
  ASSERT_TRUE(drift.leaves_exact_angle.has_value());
  EXPECT_LT(*drift.leaves_exact_angle, 64);
  ASSERT_GT(drift.by_octave.size(), 10u);
  EXPECT_EQ(drift.by_octave.front().max_abs, 0);
  // 9.3e-3 over every position below 131072; a sample sees at least a quarter of it.
  EXPECT_GT(drift.by_octave.back().max_abs, 2e-3);
  EXPECT_LT(drift.by_octave.back().max_abs, 9.4e-3);
  ASSERT_EQ(drift.ulp_histogram.size(), DriftRecord::kBins);
  std::uint64_t entries = 0;
  for (const std::uint64_t bin : drift.ulp_histogram) entries += bin;
  EXPECT_EQ(entries, static_cast<std::uint64_t>(2 * 64 * drift.positions));
  for (const DriftRecord::Octave& octave : drift.by_octave) {
    ASSERT_EQ(octave.blocks.size(), static_cast<std::size_t>(DriftRecord::kBlocks));
    EXPECT_EQ(*std::max_element(octave.blocks.begin(), octave.blocks.end()), octave.max_abs);
    EXPECT_EQ(octave.blocks[static_cast<std::size_t>(octave.pair / 4)], octave.max_abs);
  }
}

TEST(suite, bad_replays_are_refused_with_one_line) {
  for (const char* text :
       {"", "law=rope_elementwise", "law=none kernel=scalar contract=f32-angle operation=rotate positions=0",
        "law=rope_elementwise kernel=scalar contract=none operation=rotate positions=0",
        "law=rope_elementwise kernel=scalar contract=f32-angle operation=attention positions=0",
        "law=rope_elementwise kernel=scalar contract=f32-angle operation=rotate positions=0",
        "law=rope_elementwise law=x kernel=scalar contract=f32-angle operation=rotate positions=0"}) {
    EXPECT_THROW((void)parse_replay(text), InputError) << text;
  }
}

}  // namespace
}  // namespace sextant
