// Sweeps against plain MPFR, planted errors, and the same bytes whatever the threads and shards.
#include "sextant/props/sweep.hpp"

#include <bit>

#include "sextant/props/grade.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/props/suite.hpp"
#include "sextant/props/worst_case.hpp"
#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/oracle/oracle.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

SweepSubject subject_of(const Kernel& kernel, const char* encoding, std::int64_t seq_len = 4096) {
  SweepSubject subject;
  subject.rope = rope_of(encoding);
  subject.seq_len = seq_len;
  subject.kernel = &kernel;
  return subject;
}

SweepTally run(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads = 1) {
  return sweep(subject, begin, end, threads, [](std::int64_t) {});
}

bool same(const SweepTally& a, const SweepTally& b) {
  const auto place = [](const std::optional<TallyWitness>& w) {
    return w ? std::optional(std::tuple(w->position, w->pair, w->function,
                                        std::bit_cast<std::uint64_t>(w->got), w->want))
             : std::nullopt;
  };
  return a.tally.points == b.tally.points && a.tally.all == b.tally.all &&
         a.tally.octaves == b.tally.octaves && place(a.tally.worst) == place(b.tally.worst) &&
         place(a.tally.first_nan) == place(b.tally.first_nan) && a.position_error == b.position_error &&
         a.position_error_at == b.position_error_at && a.no_claim == b.no_claim && a.broken == b.broken &&
         a.first_broken == b.first_broken;
}

TEST(sweep, threads_and_shards_give_what_one_run_gives) {
  const Kernel kernel = scalar_kernel();
  expect_property("same tally", [&] {
    SweepSubject subject;
    subject.rope = *arbitrary_rope(8);
    subject.kernel = &kernel;
    subject.operation = *rc::gen::element(Operation::tables, Operation::rotate);
    subject.seq_len = 30000;
    if (subject.operation == Operation::tables && *uniform(0, 2) == 0)
      subject.contract = parse_contract("exact-angle");
    const auto begin = *uniform<std::int64_t>(-100, 20000);
    const auto length = *uniform<std::int64_t>(3, 3000);
    const SweepTally whole = run(subject, begin, begin + length, 1);
    RC_ASSERT(same(whole, run(subject, begin, begin + length, 3)));
    const std::int64_t count = *uniform<std::int64_t>(1, 4);
    SweepTally parts;
    for (std::int64_t i = count; i-- > 0;) {
      const Range range = shard_of(begin, begin + length, i, count);
      parts += run(subject, range.begin, range.end, 1);
    }
    RC_ASSERT(same(whole, parts));
  });
}

TEST(sweep, shards_cover_the_range_once) {
  for (const std::int64_t count : {1, 2, 3, 7, 10}) {
    std::int64_t next = -5;
    for (std::int64_t i = 0; i < count; ++i) {
      const Range range = shard_of(-5, 5, i, count);
      EXPECT_EQ(range.begin, next);
      next = range.end;
    }
    EXPECT_EQ(next, 5);
  }
}

TEST(sweep, a_rotation_is_measured_as_its_definition_says) {
  // Every element again by MPFR rows, in the slowest way.
  const Kernel kernel = scalar_kernel();
  SweepSubject subject = subject_of(
      kernel,
      "rope(dim=16,theta=10000,pairing=interleaved,direction=-1,scaling=yarn(factor=4,original=512))");
  subject.operation = Operation::rotate;
  const SweepTally tally = run(subject, 0, 700);
  const Rope& rope = subject.rope;
  ExactRows rows(rope, subject.seq_len);
  double worst = 0;
  UlpSum sum;
  std::uint64_t wrong = 0;
  for (std::int64_t p = 0; p < 700; ++p) {
    std::vector<float> x, y(16, NAN);
    for (std::int64_t c = 0; c < 16; ++c) x.push_back(rotation_input(p, c));
    const Encoding encoding = rope;
    std::int64_t position = p;
    const auto view = [](std::vector<float>& data) { return dense(data.data(), DType::f32, 1, 1, 1, 16); };
    kernel.rotate({encoding,
                   subject.seq_len,
                   Layout::bshd,
                   dense(&position, DType::i64, 1),
                   view(x),
                   {},
                   {},
                   view(y),
                   {},
                   {},
                   {},
                   0});
    for (std::int64_t k = 0; k < 8; ++k) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, k);
      const double a = x[static_cast<std::size_t>(at.in_a)], b = x[static_cast<std::size_t>(at.in_b)];
      const ExactRow& row = rows.at(p);
      const Pair<Wide> want = rotate_pair(Wide(a), Wide(b), row.cos[static_cast<std::size_t>(k)],
                                          -row.sin[static_cast<std::size_t>(k)]);
      const WorkingDigits scope(60);
      const Wide factor = rows.frequencies().attention_factor;
      const Mpfr norm = (Mpfr(factor.hi) + Mpfr(factor.lo)) * sqrt(Mpfr(a) * a + Mpfr(b) * b);
      for (const auto& [got, exact] : {std::pair{y[static_cast<std::size_t>(at.out_a)], want.a},
                                       std::pair{y[static_cast<std::size_t>(at.out_b)], want.b}}) {
        // Units rounded from the exact quotient: a double would round twice.
        const Mpfr error = abs(Mpfr(double{got}) - (Mpfr(exact.hi) + Mpfr(exact.lo)));
        const Mpfr quotient = error / norm * 0x1p40;
        const UlpSum units = UlpSum::from_units(Mpfr(round(quotient)).convert_to<std::uint64_t>());
        sum += units;
        worst = std::max(worst, units.ulp());
        wrong += got != static_cast<float>(exact.value());
      }
    }
  }
  EXPECT_EQ(tally.tally.all.sum, sum);
  EXPECT_EQ(tally.tally.all.max_ulp, worst);
  EXPECT_EQ(tally.tally.all.not_correctly_rounded, wrong);
  EXPECT_EQ(tally.tally.all.values, 700u * 16);
}

TEST(sweep, the_simd_tables_are_correctly_rounded_and_the_textbook_ones_are_not) {
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.tables) continue;
    const SweepTally tally =
        run(subject_of(kernel, "rope(dim=64,theta=500000,scaling=yarn(factor=32,original=4096))"), 0, 3000);
    EXPECT_EQ(tally.tally.all.undecided, 0u);
    EXPECT_EQ(tally.tally.all.not_correctly_rounded == 0, kernel.name.starts_with("simd/")) << kernel.name;
  }
}

TEST(sweep, values_below_the_least_normal_are_measured_in_its_unit_whatever_the_block) {
  // A = 1e-38: every entry is subnormal in float32 and bfloat16.
  const Rope rope =
      rope_of("rope(dim=16,theta=150000,scaling=yarn(factor=8,original=4096,attention_factor=1e-38))");
  const Oracle oracle(rope, 64, 0, 64);
  std::vector<float> cos(64 * 8), sin(64 * 8);
  ASSERT_EQ(oracle.produce(0, 64, kFloat32, {cos.data(), 8, 1}, {sin.data(), 8, 1}), 0u);
  const Tally whole = oracle.check(0, 64, kFloat32, {cos.data(), 8, 1}, {sin.data(), 8, 1});
  EXPECT_EQ(whole.all.not_correctly_rounded, 0u);
  EXPECT_LE(whole.all.max_ulp, 0.5);
  Tally rows;
  for (std::int64_t r = 0; r < 64; ++r)
    rows += oracle.check(r, 1, kFloat32, {cos.data() + 8 * r, 8, 1}, {sin.data() + 8 * r, 8, 1});
  EXPECT_EQ(whole.all, rows.all);
}

TEST(sweep, the_cosine_of_a_tiny_angle_is_decided) {
  const Rope rope = rope_of("rope(dim=4,theta=10000,scaling=linear(factor=1e16))");
  const Oracle oracle(rope, 64, 0, 64);
  std::vector<float> cos(64 * 2), sin(64 * 2);
  EXPECT_EQ(oracle.produce(0, 64, kFloat32, {cos.data(), 2, 1}, {sin.data(), 2, 1}), 0u);
  const Tally tally = oracle.check(0, 64, kFloat32, {cos.data(), 2, 1}, {sin.data(), 2, 1});
  EXPECT_EQ(tally.all.undecided, 0u);
  EXPECT_EQ(tally.all.not_correctly_rounded, 0u);
}

TEST(sweep, a_bare_table_is_judged_by_the_bare_bound) {
  const Kernel kernel = scalar_kernel();
  Kernel bare = kernel;
  bare.tables = [right = kernel.tables](const TablesCall& call) {
    const Encoding encoding = without_attention_factor(std::get<Rope>(call.encoding));
    right({encoding, call.seq_len, call.positions, call.form, call.cos, call.sin});
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      if (call.positions.as<const std::int64_t>()[s] == 0)
        call.cos.as<float>()[call.cos.offset(s)] = 1 + 0x1p-15F;
    }
  };
  SweepSubject subject =
      subject_of(bare, "rope(dim=8,theta=10000,scaling=yarn(factor=8,original=4096,attention_factor=1000))");
  subject.bare = true;
  subject.contract = parse_contract("exact-angle");
  EXPECT_EQ(run(subject, 0, 1).broken, 1);
}

TEST(sweep, rotations_of_subnormal_norm_have_a_floor_under_their_unit) {
  const Kernel kernel = scalar_kernel();
  SweepSubject subject = subject_of(kernel,
                                    "rope(dim=4,theta=10000,scaling=longrope(original=64,factor=16,short=[1,"
                                    "1],long=[1,1],attention_factor=1e-40))",
                                    64);
  subject.operation = Operation::rotate;
  EXPECT_LT(run(subject, 0, 60).tally.all.max_ulp, 4);
}

TEST(sweep, a_rotation_by_given_tables_errs_by_its_arithmetic_alone) {
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.rotate_with_tables) continue;
    if (parse_contract(kernel.capabilities.contract).arithmetic != Contract::Arithmetic::f32) continue;
    if (kernel.name == "scalar/bf16-table" || kernel.name == "scalar/f16-table")
      continue;  // these round tables
    SweepSubject subject =
        subject_of(kernel, "rope(dim=32,theta=500000,scaling=yarn(factor=32,original=4096))");
    subject.operation = Operation::rotate_with_tables;
    subject.truth = Truth::table;
    const SweepTally by_tables = run(subject, 100000, 103000);
    // |x_a c| + |x_b s| <= N: both products err by u N at most, the sum by u |y|.
    EXPECT_LT(by_tables.tally.all.max_ulp, 2.001) << kernel.name;
    EXPECT_GT(by_tables.tally.all.max_ulp, 1) << kernel.name;
    subject.truth = Truth::exact;
    EXPECT_GE(run(subject, 100000, 103000).tally.all.max_ulp, by_tables.tally.all.max_ulp * 0.9)
        << kernel.name;
  }
}

TEST(grade, elements_without_claim_are_not_kept) {
  const Kernel kernel = scalar_kernel();
  const std::int64_t far = std::int64_t{1} << 30;
  const Grade result = grade(kernel, rope_of("rope(dim=4,theta=10000)"), far + 100, Truth::exact, far,
                             far + 100, 1, [](std::int64_t) {});
  EXPECT_EQ(result.contracts[1].name, "f32-angle");
  EXPECT_FALSE(result.contracts[1].up_to_position.has_value());
  EXPECT_GT(result.contracts[1].no_claim, 0);
}

TEST(sweep, planted_damage_is_found_and_only_that) {
  Kernel kernel;
  for (const Kernel& own : own_kernels()) {
    if (own.name.starts_with("simd/") && own.unavailable.empty() && own.tables) kernel = own;
  }
  const Kernel right = kernel;
  int planted = 0;
  kernel.capabilities.concurrent = false;
  kernel.tables = [&](const TablesCall& call) {
    right.tables(call);
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      const std::int64_t position = call.positions.as<const std::int64_t>()[s];
      if (position % 100 != 17) continue;
      float& value = call.sin.as<float>()[call.sin.offset(s, position % 7)];
      value = std::nextafter(value, 2.0F);
      ++planted;
    }
  };
  const SweepTally tally = run(subject_of(kernel, "rope(dim=32,theta=10000)"), 0, 5000);
  EXPECT_EQ(planted, 50);
  EXPECT_EQ(tally.tally.all.not_correctly_rounded, 50u);
  EXPECT_EQ(tally.tally.worst->position % 100, 17);
}

TEST(sweep, position_error_and_contract_see_a_shifted_row) {
  Kernel shifted = scalar_kernel();
  shifted.tables = [right = shifted.tables](const TablesCall& call) {
    std::vector<std::int64_t> positions;
    for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
      const std::int64_t p = call.positions.as<const std::int64_t>()[s];
      positions.push_back(p == 300 ? 303 : p);
    }
    right({call.encoding, call.seq_len, dense(positions.data(), DType::i64, positions.size()), call.form,
           call.cos, call.sin});
  };
  SweepSubject subject = subject_of(shifted, "rope(dim=8,theta=1000000)");
  subject.contract = parse_contract("f32-angle");
  const SweepTally tally = run(subject, 0, 1000);
  EXPECT_NEAR(tally.position_error, 3, 0.01);
  EXPECT_EQ(tally.position_error_at->position, 300);
  ASSERT_TRUE(tally.first_broken.has_value());
  EXPECT_EQ(tally.first_broken->position, 300);
  EXPECT_GT(tally.broken, 0);
}

TEST(sweep, against_its_stored_frequencies_and_angles_the_textbook_kernel_errs_less) {
  const Kernel kernel = scalar_kernel();
  SweepSubject subject = subject_of(kernel, "rope(dim=128,theta=500000)");
  const auto max_abs = [&](Truth truth) {
    subject.truth = truth;
    return run(subject, 100000, 100064).tally.all.max_abs;
  };
  const double exact = max_abs(Truth::exact), frequency = max_abs(Truth::frequency),
               angle = max_abs(Truth::angle);
  EXPECT_GT(exact, 1e-3);
  EXPECT_GT(exact, frequency);
  EXPECT_LT(frequency, 0x1p-8 * 1.01);  // half an ulp of a float32 angle of 1e5
  EXPECT_LT(angle, 0x1p-24);            // libm alone
  EXPECT_GT(angle, 0x1p-26);
}

TEST(grade, stages_telescope_exactly_and_the_textbook_kernel_leaves_exact_angle_early) {
  const Kernel kernel = scalar_kernel();
  const Grade result =
      grade(kernel, rope_of("rope(dim=128,theta=500000)"), 1, Truth::exact, 0, 20000, 2, [](std::int64_t) {});
  ASSERT_EQ(result.contracts.size(), 7u);  // all but two of 16-bit arithmetic and given-table
  EXPECT_EQ(result.contracts[0].name, "exact-angle");
  EXPECT_LT(*result.contracts[0].up_to_position, 10);
  EXPECT_EQ(result.contracts[1].name, "f32-angle");
  EXPECT_EQ(*result.contracts[1].up_to_position, 19999);
  std::size_t next = 0;
  for (const StageShare& total : result.totals) {
    double sum = 0;
    for (; next < result.stages.size() && result.stages[next].position == total.position; ++next)
      sum += result.stages[next].signed_share;
    EXPECT_EQ(sum, total.signed_share) << total.position;
  }
  EXPECT_EQ(next, result.stages.size());
  std::map<std::string, double> most;
  for (const StageShare& share : result.maxima) most[share.stage] = std::fabs(share.signed_share);
  EXPECT_EQ(most.size(), 4u);
  EXPECT_GT(most.at("frequency"), 1e-5);
  EXPECT_GT(most.at("angle"), 1e-4);
  EXPECT_LT(most.at("trig"), 0x1p-24);
  EXPECT_LT(most.at("arithmetic"), 0x1p-22);
}

TEST(grade, a_kernel_that_hides_its_angles_has_its_stages_merged) {
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.name.starts_with("simd/") || !kernel.unavailable.empty() || !kernel.tables) continue;
    const Grade result =
        grade(kernel, rope_of("rope(dim=32,theta=10000)"), 1, Truth::exact, 0, 3000, 1, [](std::int64_t) {});
    EXPECT_EQ(*result.contracts[0].up_to_position, 2999) << kernel.name;
    EXPECT_EQ(result.stages[1].stage, "angle+trig");
  }
}

TEST(worst_case, is_at_least_the_sweeps_and_replays_as_a_scalar_witness) {
  const Kernel kernel = scalar_kernel();
  SweepSubject subject = subject_of(kernel, "rope(dim=16,theta=10000,pairing=interleaved)", 500);
  subject.operation = Operation::rotate;
  const SweepTally tally = run(subject, 0, 500);
  const WorstCase worst = find_worst_case(kernel, subject.rope, 500, *tally.tally.worst, 500);
  EXPECT_GE(worst.pair_ulp, tally.tally.all.max_ulp * 0.98);
  EXPECT_EQ(parse_case(to_string(worst.replay)), worst.replay);
  const Outcome outcome = run_replay(
      {"rope_elementwise", "scalar", "exact-angle", false, Operation::rotate, worst.replay}, kernel);
  EXPECT_EQ(outcome.verdict, Verdict::fail);
  EXPECT_EQ(outcome.measure.witness->pair, worst.pair);
  EXPECT_EQ(outcome.measure.witness->got, worst.got);
}

}  // namespace
}  // namespace sextant
