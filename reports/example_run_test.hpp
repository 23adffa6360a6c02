// A run with something of everything, small and fixed, for the tests of all reports.
#pragma once
#include <fmt/format.h>

#include "sextant/reports/run.hpp"

namespace sextant {

[[nodiscard]] inline Run example_run() {
  Run run;
  run.version = "0.1.0";
  run.environment = {"2026-01-31T23:59:59Z", "bench",         "Linux 6.1 x86_64", "12.2.0",
                     "24e29bfd70c722c7",     {"AVX3", "AVX2"}};
  run.seed = 7;
  run.arguments = "--cases 2";
  run.models = 2;
  run.seconds = 1.5;
  run.result.cases = 8;
  run.result.positions = 40;
  run.result.elements = 5000;
  run.result.no_claim = 3;
  run.result.audit.points = 11;
  run.not_supported = {{"bloom-560m", "ALiBi is not supported yet"}};
  const auto add = [&](const char* kernel, const char* law, const char* model,
                       Verdict verdict) -> VerdictRecord& {
    VerdictRecord& record = run.result.verdicts.emplace_back();
    record.kernel = kernel;
    record.law = law;
    record.model = model;
    record.encoding = "rope(dim=8,theta=10000)";
    record.contract = "exact-angle";
    record.verdict = verdict;
    record.cases = 2;
    record.measure.unit = "pair_ulp";
    return record;
  };
  const auto measure = [](VerdictRecord& record, double error, double bound, Witness witness) {
    record.measure.take(error, bound, witness);
    record.witness = witness;
  };
  measure(add("simd/AVX2", "rope_elementwise", "llama-2-7b", Verdict::pass), 1.25, 1.5,
          {7, 3, "a", 0.25, 0.5});
  VerdictRecord& failed = add("mine", "rope_elementwise", "llama-2-7b", Verdict::fail);
  measure(failed, 2097152, 2, {9, 1, "b", -0.75, 0.5});
  failed.replay = "law=rope_elementwise kernel=mine contract=exact-angle operation=rotate positions=9";
  VerdictRecord& crashed = add("mine", "rope_isometry", "gpt-j-6b", Verdict::crashed);
  crashed.measure = {};
  crashed.reason = "killed by SIGSEGV";
  crashed.replay = "law=rope_isometry kernel=mine contract=exact-angle operation=rotate positions=1";
  add("mine", "rope_gqa_order", "gpt-j-6b", Verdict::unsupported).reason = "offers no k";
  measure(add("simd/AVX2", "repeatability", "llama-2-7b", Verdict::pass), 0, 0, {0, 0, "a", 1, 1});
  // An encoding that is longer than a line.
  std::string factors = "1";
  for (int i = 1; i < 64; ++i) factors += ",1.25";
  add("simd/AVX2", "longrope_switch", "phi-3", Verdict::pass).encoding = fmt::format(
      "rope(dim=128,theta=10000,scaling=longrope(original=4096,factor=32,short=[{0}],long=[{0}]))", factors);
  for (const char* kernel : {"mine", "simd/AVX2"}) {
    const bool drifts = std::string_view(kernel) == "mine";
    DriftRecord& drift = run.result.drift.emplace_back();
    drift.kernel = kernel;
    drift.model = "llama-2-7b";
    drift.encoding = "rope(dim=8,theta=10000)";
    drift.context = 4;
    drift.positions = 4;
    if (drifts) drift.leaves_exact_angle = 2;
    drift.by_octave = {{0, 0, 0, 0, {0, 0, 0, 0}},
                       {1, 1, 1, 5.5e-08, {1e-09, 5.5e-08, 2e-08, 0}},
                       {2, 3, 0, drifts ? 0.25 : 5.75e-08, {drifts ? 0.25 : 5.75e-08, 5.5e-08, 2e-08, 0}}};
    drift.ulp_histogram.assign(DriftRecord::kBins, 0);
    drift.ulp_histogram[0] = 30;
    drift.ulp_histogram[drifts ? 12 : 0] += 2;
    drift.sum = UlpSum::from_ulp(drifts ? 3000 : 7.5);
  }
  return run;
}

}  // namespace sextant
