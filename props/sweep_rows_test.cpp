// Sweeps of sinusoidal rows against plain definitions, planted errors, and the same tally whatever the
// threads and shards.
#include <map>

#include "sextant/props/encode_law_test.hpp"
#include "sextant/props/sweep_judge.hpp"
#include "sextant/reference/oracle/audit.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

SweepSubject subject_of(const Kernel& kernel, const Sinusoidal& scheme) {
  SweepSubject subject;
  subject.sinusoid = scheme;
  subject.kernel = &kernel;
  subject.operation = Operation::encode;
  return subject;
}

SweepTally run(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads = 1) {
  return sweep(subject, begin, end, threads, [](std::int64_t) {});
}

Range range_of(const Sinusoidal& scheme) {
  return has_two_axes(scheme.layout) ? Range{0, std::min<std::int64_t>(positions_of(scheme).last + 1, 500)}
                                     : Range{-300, 1500};
}

TEST(sweep_rows, a_row_is_measured_as_its_definition_says) {
  const Kernel kernel = scalar_kernel();
  for (const Sinusoidal& scheme : sinusoids()) {
    const Range range = range_of(scheme);
    const SweepTally got = run(subject_of(kernel, scheme), range.begin, range.end);
    Errors want;
    std::map<int, std::uint64_t> by_octave;
    ExactRows truth(scheme);
    const Encoding encoding = scheme;
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      const std::vector<float> row = encoded(kernel, {encoding, {position}, DType::f32, nullptr, {}});
      const ExactRow exact = truth.take(position);
      for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
        const SinusoidColumns at = sinusoid_columns(scheme, k);
        const auto take = [&](float value, const Wide& right) {
          ++want.values;
          ++by_octave[octave_of(position)];
          const double ulp = error_ulp(value, right, kFloat32);
          want.sum += UlpSum::from_ulp(ulp);
          want.not_correctly_rounded += ulp > 0.5 ? 1 : 0;
          want.max_ulp = std::max(want.max_ulp, ulp);
          want.max_abs = std::max(want.max_abs, std::fabs((Wide(value) - right).value()));
        };
        take(row[static_cast<std::size_t>(at.sine)], exact.sin[static_cast<std::size_t>(k)]);
        if (at.cosine >= 0)
          take(row[static_cast<std::size_t>(at.cosine)], exact.cos[static_cast<std::size_t>(k)]);
      }
    }
    const Errors& all = got.tally.all;
    SCOPED_TRACE(to_string(encoding));
    EXPECT_EQ(all.values, static_cast<std::uint64_t>((range.end - range.begin) * scheme.dim));
    EXPECT_EQ(got.tally.points,
              static_cast<std::uint64_t>((range.end - range.begin) * sinusoid_pairs(scheme)));
    EXPECT_EQ(all.values, want.values);
    EXPECT_EQ(all.not_correctly_rounded, want.not_correctly_rounded);
    EXPECT_EQ(all.undecided, 0u);
    EXPECT_NEAR(all.max_ulp, want.max_ulp, 1e-4 + want.max_ulp * 1e-9);
    EXPECT_NEAR(all.max_abs, want.max_abs, want.max_abs * 1e-12);
    EXPECT_NEAR(all.mean_ulp(), want.mean_ulp(), 1e-4);
    for (const auto& [octave, values] : by_octave)
      EXPECT_EQ(got.tally.octaves[static_cast<std::size_t>(octave)].values, values);
  }
}

TEST(sweep_rows, threads_and_shards_give_what_one_run_gives) {
  const Kernel kernel = scalar_kernel();
  for (const Sinusoidal& scheme : sinusoids()) {
    SweepSubject subject = subject_of(kernel, scheme);
    subject.contract = parse_contract("exact-angle");
    const Range range = range_of(scheme);
    const SweepTally whole = run(subject, range.begin, range.end);
    SweepTally parts;
    for (std::int64_t i = 3; i-- > 0;) {
      const Range part = shard_of(range.begin, range.end, i, 3);
      parts += run(subject, part.begin, part.end, 2);
    }
    EXPECT_EQ(whole.tally.all, parts.tally.all);
    EXPECT_EQ(whole.tally.octaves, parts.tally.octaves);
    EXPECT_EQ(whole.tally.worst->position, parts.tally.worst->position);
    EXPECT_EQ(whole.tally.worst->pair, parts.tally.worst->pair);
    EXPECT_EQ(whole.position_error, parts.position_error);
    EXPECT_EQ(whole.position_error_at, parts.position_error_at);
    EXPECT_EQ(whole.broken, parts.broken);
    EXPECT_EQ(whole.first_broken, parts.first_broken);
  }
}

TEST(sweep_rows, the_textbook_keeps_its_contract_and_breaks_exact_angle) {
  const Kernel kernel = scalar_kernel();
  for (const Sinusoidal& scheme : sinusoids()) {
    SweepSubject subject = subject_of(kernel, scheme);
    const Range range = range_of(scheme);
    subject.contract = claimed_contract(kernel);
    EXPECT_EQ(run(subject, range.begin, range.end).broken, 0);
  }
  SweepSubject subject = subject_of(kernel, std::get<Sinusoidal>(parse_encoding("sinusoidal(dim=64)")));
  subject.contract = parse_contract("exact-angle");
  EXPECT_GT(run(subject, 0, 4096).broken, 0);
}

TEST(sweep_rows, every_planted_error_is_found_at_its_place) {
  for (const Sinusoidal& scheme : sinusoids()) {
    const Range range = range_of(scheme);
    const std::int64_t where = range.end - 7;
    for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
      const SinusoidColumns at = sinusoid_columns(scheme, k);
      for (const std::int64_t column : {at.sine, at.cosine}) {
        if (column < 0) continue;
        const Kernel kernel = encoding_by([&](const EncodeCall& call, const auto& serve) {
          serve(call);
          const std::vector<std::int64_t> positions = positions_in(call);
          for (std::size_t s = 0; s < positions.size(); ++s)
            if (positions[s] == where)
              write_element(call.rows, call.rows.offset(static_cast<std::int64_t>(s), column), 3);
        });
        const SweepTally tally = run(subject_of(kernel, scheme), range.begin, range.end);
        ASSERT_TRUE(tally.tally.worst.has_value());
        EXPECT_EQ(tally.tally.worst->position, where);
        EXPECT_EQ(tally.tally.worst->pair, k);
        EXPECT_EQ(tally.tally.worst->function, column == at.sine ? Function::sin : Function::cos);
        EXPECT_EQ(tally.tally.worst->got, 3);
      }
    }
  }
}

TEST(sweep_rows, audits_keep_their_bounds_and_add_up) {
  for (const Sinusoidal& scheme : sinusoids()) {
    const Range range = range_of(scheme);
    const Audit whole = audit(scheme, range.begin, range.end);
    Audit parts = audit(scheme, range.begin, range.begin + 100);
    parts += audit(scheme, range.begin + 100, range.end);
    EXPECT_TRUE(whole.kept());
    EXPECT_GT(whole.points, 5u);
    EXPECT_EQ(whole.points, parts.points);
  }
}

}  // namespace
}  // namespace sextant
