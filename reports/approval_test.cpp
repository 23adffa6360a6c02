// Every output format, as approved: the files of reports/approved/. After a change that is meant,
// SEXTANT_APPROVE=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "sextant/reports/console.hpp"
#include "sextant/reports/example_run_test.hpp"
#include "sextant/reports/html.hpp"
#include "sextant/reports/junit.hpp"
#include "sextant/reports/markdown.hpp"

namespace sextant {
namespace {

void approve(const std::string& text, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(SEXTANT_SOURCE_DIR "/reports") / file;
  if (std::getenv("SEXTANT_APPROVE") != nullptr) std::ofstream(path) << text;
  std::stringstream approved;
  approved << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, approved.str()) << path << ": SEXTANT_APPROVE=1 writes what is there now";
}

/// Without the style, the scripts and the data between them.
std::string skeleton(std::string html) {
  for (const auto& [begin, end] : {std::pair{"<style>", "</style>"}, std::pair{"<script", "</script>\n"}}) {
    for (std::size_t from = 0; (from = html.find(begin, from)) != std::string::npos;)
      html.erase(from, html.find(end, from) + std::string_view(end).size() - from);
  }
  return html;
}

/// A run that is worse than example_run in all ways.
Run worse_run() {
  auto run = example_run();
  run.result.verdicts[0].measure.worst = 1.375;
  run.result.verdicts[2].verdict = Verdict::pass;
  run.result.verdicts[2].reason.clear();
  run.result.verdicts[4].verdict = Verdict::fail;
  run.result.verdicts[4].replay = "law=repeatability kernel=simd/AVX2";
  run.result.verdicts.pop_back();
  run.missing = {{"cuda", "no device"}};
  return run;
}

Gate changes() { return compare(worse_run(), example_run(), "run.json", "base.json"); }

TEST(approved, run_document) { approve(to_json(example_run()), "approved/run.json"); }
TEST(approved, console) { approve(to_text(worse_run(), false), "approved/console.txt"); }
TEST(approved, console_of_hostile_names_moves_no_cursor_and_starts_no_line) {
  auto run = worse_run();
  const std::string hostile = "\x1b[31m\n::error::x\r'; x '";
  for (VerdictRecord& record : run.result.verdicts) {
    record.kernel = record.law = record.reason = hostile;
    if (!record.replay.empty()) record.replay = hostile;
    if (record.witness) record.witness->function = hostile;
  }
  for (DriftRecord& drift : run.result.drift) drift.kernel = hostile;
  run.missing = {{hostile, hostile}};
  const std::string text = to_text(run, false);
  EXPECT_EQ(text.find_first_of("\x1b\r"), std::string::npos);
  EXPECT_EQ(text.find("\n::"), std::string::npos);
  EXPECT_NE(text.find("sextant replay '"), std::string::npos);
  EXPECT_EQ(text.find("x\r'; x"), std::string::npos);
}
TEST(approved, junit) { approve(to_junit(worse_run()), "approved/junit.xml"); }
TEST(approved, markdown) { approve(to_markdown(worse_run(), changes()), "approved/markdown.md"); }
TEST(approved, annotations) { approve(to_annotations(worse_run(), changes()), "approved/annotations.txt"); }
TEST(approved, gate_document) { approve(to_json(changes()), "approved/gate.json"); }
TEST(approved, gate_console) { approve(to_text(changes(), false), "approved/gate.txt"); }
TEST(approved, page) {
  Report report;
  report.runs = {{"before", example_run()}, {"now", worse_run()}};
  report.changes = changes();
  approve(skeleton(to_html(report)), "approved/page.html");
}

std::string help_of(const std::string& verb) {
  const std::string line = fmt::format("{} {} --help", SEXTANT_BINARY, verb);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), pclose);
  std::string text;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  return text;
}

TEST(approved, quick_reference) {
  const std::string all = help_of("");
  std::string page = "# Quick reference\n\nWhat `--help` says, of every verb; a test keeps it so.\n";
  std::istringstream lines(all.substr(all.find("Subcommands:")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    const std::string verb = line.substr(2, line.find(' ', 2) - 2);
    page += fmt::format("\n## sextant {}\n\n```\n{}```\n", verb, help_of(verb));
  }
  EXPECT_NE(page.find("## sextant gate"), std::string::npos);
  approve(page, "pages/quick-reference.md");
}

}  // namespace
}  // namespace sextant
