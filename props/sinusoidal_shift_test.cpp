#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(sinusoidal_shift, truth) {
  const WorkingDigits scope(60);
  for (const Sinusoidal& scheme : sinusoids()) {
    const std::vector<Interval> w = inv_freq<Interval>(scheme);
    for (const auto& [p, q] : {std::pair<std::int64_t, std::int64_t>{3, 44}, {500, 137}}) {
      const std::vector<Interval> here = sinusoid_row(scheme, w, p), there = sinusoid_row(scheme, w, q);
      Interval product = 0, norm = 0, cosines = 0;
      for (std::int64_t k = 0; k < whole_pairs(scheme); ++k) {
        const SinusoidColumns at = sinusoid_columns(scheme, k);
        const auto sine = static_cast<std::size_t>(at.sine), cosine = static_cast<std::size_t>(at.cosine);
        const int axis = axis_of(scheme, k);
        const Interval turn = w[static_cast<std::size_t>(k)] *
                              (coordinate_of(scheme, axis, q) - coordinate_of(scheme, axis, p));
        EXPECT_TRUE(meet(there[sine], here[sine] * cos(turn) + here[cosine] * sin(turn)));
        EXPECT_TRUE(meet(there[cosine], here[cosine] * cos(turn) - here[sine] * sin(turn)));
        product += here[sine] * there[sine] + here[cosine] * there[cosine];
        norm += here[sine] * here[sine] + here[cosine] * here[cosine];
        cosines += cos(turn);
      }
      EXPECT_TRUE(meet(product, cosines, 100));
      EXPECT_TRUE(meet(norm, Interval(whole_pairs(scheme)), 100));
      if (scheme.dim % 2 == 0) continue;
      // An odd width's last sine adds sin(p w) sin(q w), 0 for a zero column.
      const auto last = static_cast<std::size_t>(sinusoid_columns(scheme, whole_pairs(scheme)).sine);
      const Interval lone = w.back();
      EXPECT_TRUE(meet(here[last] * there[last], sin(Interval(lone * p)) * sin(Interval(lone * q))));
    }
  }
}

TEST(sinusoidal_shift, kernel) { expect_kept(sinusoidal_shift(), sinusoidal_encodings()); }

TEST(sinusoidal_shift, bound_is_sharp) {
  const Trials trials =
      run_trials(sinusoidal_shift(), Operation::encode, scalar_kernel(), sinusoidal_encodings(), 60);
  EXPECT_EQ(trials.failed, 0);
  std::printf("sinusoidal_shift: worst share %.3f\n", trials.measure.share());
  EXPECT_GT(trials.measure.share(), 0.25);
}

TEST(sinusoidal_shift, teeth) {
  const Law law = sinusoidal_shift();
  const Encoding plain = encoding_of("sinusoidal(dim=16)"), a = encoding_of("sinusoidal(dim=16,layout=A)");
  const auto caught = [&](const Kernel& kernel, const Encoding& encoding, const char* fault) {
    expect_caught(law, Operation::encode, kernel, {encoding}, fault);
  };
  caught(encoding_columns([](std::int64_t j, std::int64_t) { return j ^ 1; }), plain,
         "sines and cosines exchanged");
  caught(encoding_as([](Sinusoidal& s) { s.layout = Sinusoidal::Layout::A_cos; }), a, "halves swapped");
  caught(encoding_in_float16(), plain, "positions in float16");
  caught(encoding_as([](Sinusoidal& s) { s.base *= 1.01; }), plain, "another base");
  caught(encoding_as([](Sinusoidal& s) { s.layout = Sinusoidal::Layout::B; }), plain,
         "halves for interleaved");
  caught(
      encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return std::min<std::int64_t>(p, 1023); }),
      plain, "positions clamped");
  caught(encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p % 1024; }), plain,
         "positions wrapped");
  // A table in 16 bits breaks a pair's norm under the contract of float32, at any position.
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           serve(call);
           for (std::int64_t s = 0; s < call.rows.dim(0); ++s)
             for (std::int64_t j = 0; j < call.rows.dim(1); ++j) {
               const std::int64_t at = call.rows.offset(s, j);
               write_element(call.rows, at, rounded_to(DType::bf16, read_element(call.rows, at)));
             }
         }),
         plain, "rows rounded to bfloat16");
  // Blind to equal shifts.
  EXPECT_EQ(run_trials(law, Operation::encode,
                       encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p + 1; }), {plain})
                .failed,
            0);
}

}  // namespace
}  // namespace sextant
