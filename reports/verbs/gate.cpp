// sextant gate: a run against a baseline.
#include "sextant/reports/gate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "sextant/reference/error.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/markdown.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

struct Options {
  std::string run, baseline, json, markdown, annotations;
  bool update = false;
};

/// The run becomes the baseline; what was allowed by hand stays.
int update(const Options& options, Run run) {
  if (!run.result.audit.kept())
    throw InputError(
        fmt::format("{}: the truth failed its audit in this run: it cannot be a baseline", options.run));
  if (std::filesystem::exists(options.baseline)) {
    const Run old = parse_run(read_all(options.baseline), options.baseline);
    run.allowances = old.allowances;
  }
  write_document(options.baseline, to_json(run));
  print_text(fmt::format("{}: {} verdicts and drift of {} tables are the baseline now\n", options.baseline,
                         run.result.verdicts.size(), run.result.drift.size()),
             false);
  return 0;
}

int run(const Options& options) {
  check_outputs({options.json, options.markdown, options.annotations}, {options.run, options.baseline});
  if (options.update) check_outputs({options.baseline}, {options.run});
  Run run = parse_run(read_all(options.run), options.run);
  if (options.update) return update(options, std::move(run));
  const Run baseline = parse_run(read_all(options.baseline), options.baseline);
  const Gate gate = compare(run, baseline, options.run, options.baseline);
  std::vector<Document> outputs;
  if (!options.json.empty()) outputs.push_back({options.json, to_json(gate)});
  if (!options.markdown.empty()) outputs.push_back({options.markdown, to_markdown(run, gate)});
  if (!options.annotations.empty()) outputs.push_back({options.annotations, to_annotations(run, gate)});
  write_documents(outputs);
  const bool to_error = options.json == "-" || options.markdown == "-" || options.annotations == "-";
  print_text(to_text(gate, wants_colours(to_error ? STDERR_FILENO : STDOUT_FILENO)), to_error);
  return exit_status(gate);
}

}  // namespace

Action add_gate_verb(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("gate", "stop what is worse than a baseline: verdicts, measures, coverage");
  auto options = std::make_shared<Options>();
  verb->add_option("RUN", options->run, "the run document of sextant verify --json")->required();
  verb->add_option("--baseline", options->baseline, "the run document to hold it against")->required();
  CLI::Option* update =
      verb->add_flag("--update", options->update, "write the run as the new baseline; its allowances stay");
  verb->add_option("--json", options->json, "write the differences to FILE, - for standard output")
      ->excludes(update);
  verb->add_option("--markdown", options->markdown,
                   "write a summary for a pull request or job to FILE, - for standard output")
      ->excludes(update);
  verb->add_option("--annotations", options->annotations,
                   "write log commands of GitHub Actions to FILE, - for standard output")
      ->excludes(update);
  verb->footer(
      "The comparison is exact: the same inputs give the same bits. Measures are compared where version, "
      "seed, "
      "options, libm fingerprint and CPU target agree,\n"
      "else verdicts alone. A baseline may state allowances: {\"kernel\": \"mine*\", \"law\": \"rope_*\", "
      "\"relative\": 0.05, \"reason\": \"..\"}; law \"drift\" is that of tables.\n"
      "Exit status: 0 nothing got worse, 1 drift, 2 bad usage or input, 3 nothing comparable. Examples:\n"
      "  sextant verify --kernel scalar --json run.json; sextant gate run.json --baseline base.json "
      "--update\n"
      "  sextant gate run.json --baseline base.json --markdown \"$GITHUB_STEP_SUMMARY\" --annotations -");
  return [verb, options] { return verb->parsed() ? run(*options) : -1; };
}

}  // namespace sextant
