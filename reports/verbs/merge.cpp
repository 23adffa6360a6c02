// sextant merge: parts of a sweep or of a run to one document.
#include <memory>

#include "sextant/reference/error.hpp"
#include "sextant/reports/console.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/sweep_document.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

int merge(const std::vector<std::string>& files, const std::string& json) {
  check_outputs({json}, files);
  std::vector<SweepDocument> shards;
  std::vector<Run> runs;
  for (const std::string& file : files) {
    const std::string text = read_all(file);
    if (document_kind(text) == "run") {
      runs.push_back(parse_run(text, file));
    } else {
      shards.push_back(parse_sweep(text, file));
    }
    if (!runs.empty() && !shards.empty())
      throw InputError(
          fmt::format("{} and {} do not belong together: one is a run, the other a sweep", files[0], file));
  }
  const auto finish = [&](const auto& whole, const std::string& text) {
    if (!json.empty()) write_document(json, to_json(whole));
    print_text(text, json == "-");
    return exit_status(whole);
  };
  if (runs.empty()) {
    const SweepDocument whole = merge_sweeps(std::move(shards), files);
    return finish(whole, to_text(whole));
  }
  const Run whole = merge_runs(std::move(runs), files);
  return finish(whole, to_text(whole, false));
}

}  // namespace

Action add_merge_verb(CLI::App& app) {
  struct Options {
    std::vector<std::string> files;
    std::string json;
  };
  CLI::App* verb =
      app.add_subcommand("merge", "join the shards of a sweep, or the parts of a run, into one document");
  auto options = std::make_shared<Options>();
  verb->add_option("FILES", options->files, "the documents of all parts, in any order")->required();
  verb->add_option("--json", options->json, "write the document to FILE, - for standard output");
  verb->footer(
      "Parts of a run are verdicts of other kernels, models or laws, or of other machines, of one seed.\n"
      "Examples:\n"
      "  sextant merge part0.json part1.json --json whole.json\n"
      "  sextant merge avx2-machine.json avx3-machine.json --json run.json");
  return [verb, options] { return verb->parsed() ? merge(options->files, options->json) : -1; };
}

}  // namespace sextant
