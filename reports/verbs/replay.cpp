// sextant replay: runs the one case that a replay string names.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "sextant/reports/arguments.hpp"
#include "sextant/reports/console.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

int run(const std::string& text, const std::string& json) {
  const Replay replay = parse_replay(text);
  const Kernel kernel = find_kernel(replay.kernel);
  if (!json.empty()) check_writable(json);
  Run document;
  VerdictRecord record;
  const Outcome outcome = run_replay(replay, kernel);
  record.law = replay.law;
  record.kernel = kernel.name;
  if (replay.c.encoding) record.encoding = to_string(*replay.c.encoding);
  record.operation = replay.operation;
  record.contract = replay.contract;
  record.verdict = outcome.verdict;
  record.measure = outcome.measure;
  record.witness = outcome.measure.witness;
  record.cases = 1;
  record.reason = outcome.reason;
  record.replay = to_string(replay);
  document.result.verdicts.push_back(std::move(record));
  document.result.cases = 1;
  document.result.positions = replay.c.tokens();
  document.result.elements = outcome.measure.elements;
  document.environment = this_environment();
  document.seed = replay.c.seed;
  if (!json.empty()) write_document(json, to_json(document));
  print_text(to_text(replay, outcome), json == "-");
  return exit_status(document);
}

}  // namespace

Action add_replay_verb(CLI::App& app) {
  struct Options {
    std::string text, json;
  };
  CLI::App* verb = app.add_subcommand("replay", "run one case again, as a failure's replay line names it");
  auto options = std::make_shared<Options>();
  verb->add_option("CASE", options->text,
                   "the quoted replay string: 'law=.. kernel=.. contract=.. operation=.. ..'")
      ->required();
  verb->add_option("--json", options->json,
                   "write a run document of the one verdict to FILE, - for standard output");
  return [verb, options] { return verb->parsed() ? run(options->text, options->json) : -1; };
}

}  // namespace sextant
