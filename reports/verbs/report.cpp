// sextant report: run documents as pages, comments, CI files and text.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
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

struct File {
  std::string path;
  bool of_folder = false;  ///< not named itself
};

/// A folder stands for the JSON files in it; what else lies there is not ours.
std::vector<File> files_of(const std::vector<std::string>& documents) {
  std::vector<File> files;
  std::error_code error;
  for (const std::string& document : documents) {
    if (!std::filesystem::is_directory(document, error)) {
      files.push_back({document});
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(document, error)) {
      if (entry.path().extension() == ".json" && entry.is_regular_file(error))
        inside.push_back(entry.path().string());
    }
    if (error) throw InputError(fmt::format("{}: {}", document, error.message()));
    if (inside.empty()) throw InputError(fmt::format("{}: holds no .json file", document));
    std::sort(inside.begin(), inside.end());
    for (std::string& path : inside) files.push_back({std::move(path), true});
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
  const std::vector<File> files = files_of(options.documents);
  std::vector<std::string> inputs;
  for (const File& file : files) inputs.push_back(file.path);
  check_outputs({options.html, options.markdown, options.junit, options.annotations}, inputs);
  Report report;
  std::map<std::pair<std::size_t, std::size_t>, std::string> first_of;  // by length and hash of the text
  std::string left_out;
  for (const auto& [path, of_folder] : files) {
    const std::string text = read_all(path);
    const std::string kind = document_kind(text);
    const auto leave_out = [&, &path = path](const std::string& why) {
      left_out += fmt::format("{}: left out: {}\n", printable(path), printable(why));
    };
    if (of_folder && kind != "run" && kind != "grade") {
      leave_out("it is no document of a run or a grade");
      continue;
    }
    const auto [first, is_new] =
        first_of.try_emplace({text.size(), std::hash<std::string_view>()(text)}, path);
    if (!is_new) {
      leave_out(fmt::format("it is {} again", first->second));
    } else if (kind == "grade") {
      report.grades.push_back(parse_grade(text, path));
    } else {
      add(NamedRun(std::filesystem::path(path).stem().string(), parse_run(text, path)), report.runs);
    }
  }
  if (report.runs.empty())
    throw InputError(fmt::format("{}: no run document among these", options.documents[0]));
  complain(left_out);
  report.changes = changes_of(report.runs);
  const Run& last = report.runs.back().run;
  const bool nothing_asked = options.html.empty() && options.markdown.empty() && options.junit.empty() &&
                             options.annotations.empty();
  std::vector<Document> outputs;
  if (!options.html.empty()) outputs.push_back({options.html, to_html(report)});
  if (!options.markdown.empty()) outputs.push_back({options.markdown, to_markdown(last, report.changes)});
  if (!options.junit.empty()) outputs.push_back({options.junit, to_junit(last)});
  if (!options.annotations.empty())
    outputs.push_back({options.annotations, to_annotations(last, report.changes)});
  write_documents(outputs);
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
