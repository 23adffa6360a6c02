// Sweeps by distance: a right kernel is right everywhere, a wrong one is found where it is wrong.
#include "sextant/fixtures/kernels/scalar/scalar.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/props/sweep.hpp"
#include "sextant/reference/alibi.hpp"

namespace sextant {
namespace {

SweepTally swept(const Kernel& kernel, const char* encoding, std::int64_t begin, std::int64_t end,
                 int threads = 1) {
  SweepSubject subject;
  subject.by_distance = parse_encoding(encoding);
  subject.kernel = &kernel;
  subject.contract = claimed_contract(kernel);
  return sweep(subject, begin, end, threads, {});
}

const Kernel& exact_kernel() {
  for (const Kernel& kernel : own_kernels()) {
    if (kernel.unavailable.empty() && kernel.bias && kernel.capabilities.contract == "exact-angle")
      return kernel;
  }
  throw std::logic_error("no exact kernel runs here");
}

TEST(sweep_distances, right_kernels_are_right_at_every_distance) {
  for (const char* encoding :
       {"t5(buckets=32,max_distance=128,bidirectional=true)",
        "t5(buckets=320,max_distance=800,bidirectional=true)", "deberta(buckets=256,max_position=512)",
        "deberta(max_position=512)", "shaw(left=64,right=8)"}) {
    for (const Kernel& kernel : {scalar_kernel(), exact_kernel()}) {
      const SweepTally tally = swept(kernel, encoding, -2000, 2001);
      EXPECT_EQ(tally.tally.points, 4001u) << encoding;
      EXPECT_EQ(tally.tally.all.not_correctly_rounded, 0u) << encoding << " by " << kernel.name;
      EXPECT_EQ(tally.broken, 0);
    }
  }
  const SweepTally exact = swept(exact_kernel(), "alibi(heads=112)", -5000, 5000);
  EXPECT_EQ(exact.tally.all.values, 112u * 10000u);
  EXPECT_EQ(exact.tally.all.not_correctly_rounded, 0u);
  EXPECT_EQ(exact.tally.all.undecided, 0u);
  // BLOOM's recipe keeps the contract of float32, and no more.
  const SweepTally textbook = swept(scalar_kernel(), "alibi(heads=112,form=key)", 0, 5000);
  EXPECT_GT(textbook.tally.all.max_ulp, 4);
  EXPECT_LT(textbook.tally.all.max_ulp, 20);
  EXPECT_EQ(textbook.broken, 0);
}

TEST(sweep_distances, threads_and_parts_give_the_same) {
  const SweepTally whole = swept(scalar_kernel(), "alibi(heads=12)", -9000, 9000, 3);
  SweepTally parts = swept(scalar_kernel(), "alibi(heads=12)", 5, 9000);
  parts += swept(scalar_kernel(), "alibi(heads=12)", -9000, 5);
  EXPECT_EQ(whole.tally.all, parts.tally.all);
  EXPECT_EQ(whole.tally.octaves, parts.tally.octaves);
  ASSERT_TRUE(whole.tally.worst && parts.tally.worst);
  EXPECT_EQ(whole.tally.worst->position, parts.tally.worst->position);
  EXPECT_EQ(whole.tally.worst->pair, parts.tally.worst->pair);
}

TEST(sweep_distances, one_wrong_value_is_found) {
  Kernel faulty = scalar_kernel();
  faulty.buckets = [right = faulty.buckets](const BucketsCall& call) {
    right(call);
    for (std::int64_t j = 0; j < call.key_positions.dim(0); ++j) {
      if (call.key_positions.as<const std::int64_t>()[j] == 91) --call.buckets.as<std::int32_t>()[j];
    }
  };
  const SweepTally tally = swept(faulty, "t5(buckets=32,max_distance=128,bidirectional=true)", -200, 200);
  EXPECT_EQ(tally.tally.all.not_correctly_rounded, 1u);
  ASSERT_TRUE(tally.tally.worst);
  EXPECT_EQ(tally.tally.worst->position, 91);
  EXPECT_EQ(tally.tally.worst->want, 31);
  EXPECT_EQ(tally.tally.worst->got, 30);
  EXPECT_EQ(tally.broken, 1);
  ASSERT_TRUE(tally.first_broken);
  EXPECT_EQ(tally.first_broken->position, 91);

  faulty.bias = [right = faulty.bias](const BiasCall& call) {
    right(call);
    call.bias.as<float>()[0] = NAN;
  };
  const SweepTally biases = swept(faulty, "alibi(heads=8)", 0, 10);
  EXPECT_EQ(biases.tally.all.nan, 1u);
  ASSERT_TRUE(biases.tally.first_nan);
  EXPECT_EQ(biases.tally.first_nan->position, 0);
}

TEST(sweep_distances, what_is_not_reached_is_refused) {
  const auto refused = [](const char* encoding, std::int64_t begin, std::int64_t end) {
    EXPECT_THROW(check_distances(parse_encoding(encoding), {begin, end}), InputError) << encoding;
  };
  refused("alibi(heads=8,form=last_key)", 0, 10);
  refused("alibi(heads=8,form=key)", -1, 10);
  refused("deberta(buckets=256,max_position=131)", -1000, 10);
  check_distances(parse_encoding("alibi(heads=8)"), {-10, 10});
  EXPECT_THROW((void)sweep_pairs(Nope{}), InputError);
}

}  // namespace
}  // namespace sextant
