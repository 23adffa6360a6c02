// sextant report: run documents as pages, comments, CI files and text.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "sextant/reference/error.hpp"
#include "sextant/reports/console.hpp"
#include "sextant/reports/html.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/junit.hpp"
#include "sextant/reports/markdown.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

struct Options {
  std::vector<std::string> documents;
  std::string html, markdown, junit, annotations;
};

/// A folder stands for the JSON files in it.
std::vector<std::string> files_of(const std::vector<std::string>& documents) {
  std::vector<std::string> files;
  for (const std::string& document : documents) {
    if (!std::filesystem::is_directory(document)) {
      files.push_back(document);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(document)) {
      if (entry.path().extension() == ".json") inside.push_back(entry.path().string());
    }
    if (inside.empty()) throw InputError(fmt::format("{}: holds no .json file", document));
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// In order of time. Only the last two are needed whole: a history may hold more than memory.
void add(NamedRun run, std::vector<NamedRun>& runs) {
  const auto later = [](const NamedRun& a, const NamedRun& b) {
    return a.run.environment.time < b.run.environment.time;
  };
  runs.insert(std::upper_bound(runs.begin(), runs.end(), run, later), std::move(run));
  for (std::size_t i = 0; i + 2 < runs.size(); ++i) runs[i].run.result = {};
}

/// The last run against the one before, where these can be compared.
std::optional<Gate> changes_of(const std::vector<NamedRun>& runs) {
  if (runs.size() < 2) return std::nullopt;
  const NamedRun &last = runs.back(), &before = runs[runs.size() - 2];
  try {
    return compare(last.run, before.run, last.name, before.name);
  } catch (const InputError& other_kernels) {
    Gate none;
    none.notes.emplace_back(other_kernels.what());
    return none;
  }
}

int run(const Options& options) {
  check_outputs({options.html, options.markdown, options.junit, options.annotations});
  Report report;
  for (const std::string& file : files_of(options.documents)) {
    const std::string text = read_all(file);
    const std::string name = std::filesystem::path(file).stem().string();
    if (document_kind(text) == "grade") {
      report.grades.push_back(parse_grade(text, file));
    } else {
      add(NamedRun(name, parse_run(text, file)), report.runs);
    }
  }
  if (report.runs.empty())
    throw InputError(fmt::format("{}: no run document among these", options.documents[0]));
  report.changes = changes_of(report.runs);
  const Run& last = report.runs.back().run;
  const bool nothing_asked = options.html.empty() && options.markdown.empty() && options.junit.empty() &&
                             options.annotations.empty();
  if (!options.html.empty()) write_document(options.html, to_html(report));
  if (!options.markdown.empty()) write_document(options.markdown, to_markdown(last, report.changes));
  if (!options.junit.empty()) write_document(options.junit, to_junit(last));
  if (!options.annotations.empty()) write_document(options.annotations, to_annotations(last, report.changes));
  if (!nothing_asked) return 0;
  print_text(to_text(last, wants_colours(STDOUT_FILENO)), false);
  if (report.changes) print_text(to_text(*report.changes, wants_colours(STDOUT_FILENO)), false);
  return 0;
}

}  // namespace

Action add_report_verb(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("report", "pages, comments and CI files from run documents; trends from several");
  auto options = std::make_shared<Options>();
  verb->add_option("DOCUMENTS", options->documents,
                   "run documents, and documents of sextant grade; a folder stands for all in it")
      ->required()
      ->allow_extra_args();
  verb->add_option("--html", options->html, "write one page that needs nothing else to FILE");
  verb->add_option("--markdown", options->markdown, "write a comment for a pull request to FILE");
  verb->add_option("--junit", options->junit, "write JUnit XML to FILE");
  verb->add_option("--annotations", options->annotations, "write log commands of GitHub Actions to FILE");
  verb->footer(
      "Of several runs the last is reported, against the one before, and all of them as trends; the time "
      "they "
      "were made orders them. Without an option the console text is printed again. Examples:\n"
      "  sextant report run.json --html report.html\n"
      "  sextant report history/ --html trends.html --markdown comment.md\n"
      "  sextant grade llama-3.1-8b --kernel scalar --json grade.json; sextant report run.json grade.json "
      "--html report.html");
  return [verb, options] { return verb->parsed() ? run(*options) : -1; };
}

}  // namespace sextant
