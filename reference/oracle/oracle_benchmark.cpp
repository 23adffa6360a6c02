// The oracle's speed beside what else could judge a table: reading it, MPFR, Boost, MPFI, glibc.
// One process, one core; `points` are (position, pair), cos and sin together. The ratios to MPFR at 128 bits
// and to the plain read are printed last.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "sextant/reference/number.hpp"  // MPFR before Arb, whose header asks for it
#include "sextant/reference/oracle/oracle.hpp"

#ifdef SEXTANT_WITH_ARB
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <arb.h>
#pragma GCC diagnostic pop
#endif

namespace sextant {
namespace {

constexpr std::int64_t kPositions = 131072, kPairs = 64;
constexpr std::size_t kValues = static_cast<std::size_t>(kPositions * kPairs);

Rope standard() {
  Rope rope;
  rope.head_dim = rope.dim = 2 * kPairs;
  rope.theta = 500000;
  return rope;
}

// The standard table, correctly rounded, and one with every value wrong.
struct Data {
  Oracle oracle{standard(), 1, 0, kPositions};
  std::vector<float> cos = std::vector<float>(kValues), sin = cos, wrong_cos = cos, wrong_sin = cos;
  Data() {
    oracle.produce(0, kPositions, kFloat32, {cos.data(), kPairs}, {sin.data(), kPairs});
    for (std::size_t i = 0; i < kValues; ++i) {
      wrong_cos[i] = cos[i] * 1.00001f;
      wrong_sin[i] = sin[i] * 0.99999f;
    }
  }
};
Data& data() {
  static Data shared;
  return shared;
}

void count_points(benchmark::State& state, std::int64_t points) {
  state.counters["points"] = benchmark::Counter(
      static_cast<double>(points) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void read_table(benchmark::State& state) {
  const Data& d = data();
  for (auto _ : state) {
    std::uint64_t sums[4] = {};
    const auto* c = reinterpret_cast<const std::uint64_t*>(d.cos.data());
    const auto* s = reinterpret_cast<const std::uint64_t*>(d.sin.data());
    for (std::size_t i = 0; i < kValues / 2; i += 2)
      for (std::size_t j = 0; j < 2; ++j) {
        sums[2 * j] += c[i + j];
        sums[2 * j + 1] += s[i + j];
      }
    benchmark::DoNotOptimize(sums);
  }
  count_points(state, kPositions * kPairs);
}

void check_table(benchmark::State& state, std::string target, bool wrong) {
  const Oracle oracle(standard(), 1, 0, kPositions, {.target = target});
  const Data& d = data();
  for (auto _ : state)
    benchmark::DoNotOptimize(oracle.check(0, kPositions, kFloat32,
                                          {(wrong ? d.wrong_cos : d.cos).data(), kPairs},
                                          {(wrong ? d.wrong_sin : d.sin).data(), kPairs}));
  count_points(state, kPositions * kPairs);
}

void seed_and_check(benchmark::State& state) {
  const Data& d = data();
  for (auto _ : state) {
    const Oracle oracle(standard(), 1, 0, kPositions);
    benchmark::DoNotOptimize(
        oracle.check(0, kPositions, kFloat32, {d.cos.data(), kPairs}, {d.sin.data(), kPairs}));
  }
  count_points(state, kPositions * kPairs);
}

void produce_table(benchmark::State& state, std::string target) {
  const Oracle oracle(standard(), 1, 0, kPositions, {.target = target});
  static std::vector<float> cos(kValues), sin(kValues);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        oracle.produce(0, kPositions, kFloat32, {cos.data(), kPairs}, {sin.data(), kPairs}));
  count_points(state, kPositions * kPairs);
}

void check_sparse(benchmark::State& state) {
  const Oracle oracle(standard(), 1, 0, 0);
  constexpr std::int64_t kFirst = std::int64_t{1} << 39;
  std::vector<float> cos(kPairs), sin(kPairs);
  oracle.produce(kFirst, 1, kFloat32, {cos.data(), kPairs}, {sin.data(), kPairs});
  for (auto _ : state)
    benchmark::DoNotOptimize(oracle.check(kFirst, 1, kFloat32, {cos.data(), kPairs}, {sin.data(), kPairs}));
  count_points(state, kPairs);
}

void evaluate_phase(benchmark::State& state) {
  const Oracle oracle(standard(), 1, 0, 0);
  std::vector<double> cos(kPairs), sin(kPairs);
  std::int64_t position = 1;
  for (auto _ : state) {
    oracle.row(position = position * 5 % kMaxPosition, cos.data(), sin.data());
    benchmark::DoNotOptimize(cos.data());
  }
  count_points(state, kPairs);
}

void set_up(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Oracle(standard(), 1, 0, state.range(0)).pairs());
}

// What one position costs the others, in the order of a table: angle, sine and cosine, rounding, comparison.
template <class Evaluate>
void others(benchmark::State& state, Evaluate evaluate) {
  const Data& d = data();
  std::int64_t position = 1;
  std::uint64_t different = 0;
  for (auto _ : state) {
    for (std::int64_t k = 0; k < kPairs; ++k) {
      const auto [c, s] = evaluate(position, k);
      const auto i = static_cast<std::size_t>(position * kPairs + k);
      different += (c != d.cos[i]) + (s != d.sin[i]);
    }
    position = position % (kPositions - 1) + 1;
  }
  benchmark::DoNotOptimize(different);
  count_points(state, kPairs);
}

struct Floats {
  float cos, sin;
};

template <class Real>
std::vector<Real> inverse_frequencies() {
  std::vector<Real> w;
  for (std::int64_t k = 0; k < kPairs; ++k) w.push_back(pow(Real(500000), Real(-k) / kPairs));
  return w;
}

template <class Real>
void boost_number(benchmark::State& state) {
  const auto w = inverse_frequencies<Real>();
  others(state, [&](std::int64_t m, std::int64_t k) {
    const Real angle = w[static_cast<std::size_t>(k)] * m;
    return Floats{Real(cos(angle)).template convert_to<float>(),
                  Real(sin(angle)).template convert_to<float>()};
  });
}

void mpfr_128(benchmark::State& state) {
  const WorkingDigits scope(38);
  const auto w = inverse_frequencies<Mpfr>();
  mpfr_t angle, s, c;
  mpfr_inits2(128, angle, s, c, nullptr);
  others(state, [&](std::int64_t m, std::int64_t k) {
    mpfr_mul_si(angle, w[static_cast<std::size_t>(k)].backend().data(), m, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    return Floats{mpfr_get_flt(c, MPFR_RNDN), mpfr_get_flt(s, MPFR_RNDN)};
  });
  mpfr_clears(angle, s, c, nullptr);
}

#ifdef SEXTANT_WITH_ARB
/// Arb's enclosures of both functions; their midpoints are rounded.
void arb_128(benchmark::State& state) {
  const WorkingDigits scope(38);
  std::vector<arb_struct> w;
  for (const Mpfr& value : inverse_frequencies<Mpfr>()) {
    arb_init(&w.emplace_back());
    arf_set_mpfr(arb_midref(&w.back()), value.backend().data());
  }
  arb_t angle, s, c;
  arb_init(angle);
  arb_init(s);
  arb_init(c);
  others(state, [&](std::int64_t m, std::int64_t k) {
    arb_mul_si(angle, &w[static_cast<std::size_t>(k)], m, 128);
    arb_sin_cos(s, c, angle, 128);
    return Floats{static_cast<float>(arf_get_d(arb_midref(c), ARF_RND_NEAR)),
                  static_cast<float>(arf_get_d(arb_midref(s), ARF_RND_NEAR))};
  });
  arb_clear(angle);
  arb_clear(s);
  arb_clear(c);
  for (arb_struct& value : w) arb_clear(&value);
}
#endif

void mpfi_128(benchmark::State& state) {
  const WorkingDigits scope(38);
  const auto w = inverse_frequencies<Interval>();
  others(state, [&](std::int64_t m, std::int64_t k) {
    const Interval angle = w[static_cast<std::size_t>(k)] * m;
    return Floats{mp::lower(Interval(cos(angle))).convert_to<float>(),
                  mp::upper(Interval(sin(angle))).convert_to<float>()};
  });
}

void glibc_double(benchmark::State& state) {
  std::vector<double> w;
  for (std::int64_t k = 0; k < kPairs; ++k) w.push_back(std::pow(500000.0, static_cast<double>(-k) / kPairs));
  others(state, [&](std::int64_t m, std::int64_t k) {
    const double angle = static_cast<double>(m) * w[static_cast<std::size_t>(k)];
    return Floats{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  });
}

// Prints as usual, and keeps the best rate of each.
class Rates : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (const auto found = run.counters.find("points");
          found != run.counters.end() && run.run_type == Run::RT_Iteration)
        best[run.run_name.function_name] =
            std::max(best[run.run_name.function_name], static_cast<double>(found->second));
  }
  std::map<std::string, double> best;
};

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) {
  using namespace sextant;
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("read", read_table);
  for (const std::string_view target : Oracle::targets()) {
    const std::string name(target);
    RegisterBenchmark(("check/" + name).c_str(), check_table, name, false);
    RegisterBenchmark(("check_wrong/" + name).c_str(), check_table, name, true);
    RegisterBenchmark(("produce/" + name).c_str(), produce_table, name);
  }
  RegisterBenchmark("seed_and_check", seed_and_check);
  RegisterBenchmark("check_sparse", check_sparse);
  RegisterBenchmark("phase", evaluate_phase);
  RegisterBenchmark("set_up", set_up)->Arg(kPositions)->Arg(1 << 20);
  RegisterBenchmark("mpfr_128", mpfr_128);
  RegisterBenchmark("boost_mpfr_float_50", boost_number<mp::number<mp::mpfr_float_backend<50>, mp::et_off>>);
  RegisterBenchmark("boost_cpp_bin_float_50", boost_number<mp::number<mp::cpp_bin_float<50>, mp::et_off>>);
#ifdef SEXTANT_WITH_ARB
  RegisterBenchmark("arb_128", arb_128);
#endif
  RegisterBenchmark("mpfi_128", mpfi_128);
  RegisterBenchmark("glibc_double", glibc_double);
  benchmark::Initialize(&argc, argv);
  Rates rates;
  benchmark::RunSpecifiedBenchmarks(&rates);
  std::printf("\n%-28s %12s %12s %10s\n", "best of each", "M points/s", "x mpfr_128", "of read");
  for (const auto& [name, rate] : rates.best)
    std::printf("%-28s %12.3f %12.2f %10.4f\n", name.c_str(), rate * 1e-6, rate / rates.best["mpfr_128"],
                rate / rates.best["read"]);
}
