// Surveys our own kernels: every bundled RoPE model, every position up to its declared context, as a Markdown
// page.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "sextant/reference/oracle/audit.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/environment.hpp"
#include "sextant/reports/output.hpp"

namespace sextant {
namespace {

struct Swept {
  SweepTally tally;
  double seconds;
};

Swept sweep_model(const Kernel& kernel, const Rope& rope, std::int64_t context, int threads) {
  SweepSubject subject;
  subject.rope = rope;
  subject.seq_len = context;
  subject.kernel = &kernel;
  subject.contract = parse_contract("exact-angle");
  const auto start = std::chrono::steady_clock::now();
  SweepTally tally = sweep(subject, 0, context, threads, {});
  return {std::move(tally), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

int run() {
  const Kernel textbook = find_kernel("scalar");
  const Kernel simd = find_kernel("simd");
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto start = std::chrono::steady_clock::now();
  std::string rows;
  std::uint64_t points = 0;
  std::size_t models = 0;
  Audit audited;
  SweepTally all_simd;
  Progress progress;
  for (const ModelConfig& model : bundled_models()) {
    for (const ConfigEncoding& entry : model.encodings) {
      if (!entry.encoding) continue;
      const std::string name =
          entry.selector.empty() ? model.name : fmt::format("{}#{}", model.name, entry.selector);
      progress.show(models, bundled_models().size(), name);
      if (!std::holds_alternative<Rope>(*entry.encoding)) continue;
      const auto& rope = std::get<Rope>(*entry.encoding);
      const std::int64_t context = context_of(rope, entry.max_position);
      const Swept scalar = sweep_model(textbook, rope, context, threads);
      const Swept vector = sweep_model(simd, rope, context, threads);
      audited += audit(Oracle(rope, context, 0, context), rope, context, 0, context);
      const Errors& s = scalar.tally.tally.all;
      const Errors& v = vector.tally.tally.all;
      rows += fmt::format(
          "| {} | {} | {} | {:.3g} | {:.3g} | {:.1f} % | {:.2g} | {} | {} | {} | {} |\n", name,
          scaling_name(rope.scaling), context, s.max_abs, s.mean_ulp(),
          100.0 * static_cast<double>(s.not_correctly_rounded) / static_cast<double>(s.values),
          scalar.tally.position_error,
          scalar.tally.first_broken ? std::to_string(scalar.tally.first_broken->position) : "never",
          v.not_correctly_rounded, v.undecided + s.undecided, vector.tally.first_broken ? "no" : "yes");
      points += scalar.tally.tally.points + vector.tally.tally.points;
      all_simd += vector.tally;
      ++models;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string targets;
  for (const std::string& target : this_environment().targets)
    targets += targets.empty() ? target : " " + target;
  print_text(fmt::format("# Survey of our own kernels\n\n"
                         "Made by `build/release/survey > reports/pages/survey.md`: the float32 tables of "
                         "`scalar` (the textbook recipe) and `{}`, every "
                         "position from 0 to the declared context and every pair, each value certified "
                         "against the exact one.\n\n"
                         "{} encodings, {} points, {:.0f} s on {} threads, kernels included; {} points "
                         "audited against MPFR, {}. CPU targets: {}.\n\n"
                         "max |error| and mean ulp are of the textbook tables; *wrong* counts their values "
                         "that are not correctly rounded; position error is "
                         "the largest angle error over w, in positions; *leaves* is the first position "
                         "beyond the contract exact-angle. For `{}`: values "
                         "not correctly rounded, undecided values of both kernels, and whether it keeps "
                         "exact-angle throughout.\n\n"
                         "| model | scaling | context | max \\|error\\| | mean ulp | wrong | position error "
                         "| leaves | {}: wrong | undecided | keeps exact-angle |\n"
                         "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n{}"
                         "\nAll of `{}`: {} values, {} not correctly rounded, largest error {:.6f} ulp.\n",
                         simd.name, models, points, seconds, threads, audited.points,
                         audited.kept() ? "all within the proved bounds" : "BOUND BROKEN", targets, simd.name,
                         simd.name, rows, simd.name, all_simd.tally.all.values,
                         all_simd.tally.all.not_correctly_rounded, all_simd.tally.all.max_ulp),
             false);
  return audited.kept() ? 0 : 1;
}

}  // namespace
}  // namespace sextant

int main() { return sextant::run(); }
