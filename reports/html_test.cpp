// The page in a browser: it renders and filters without a complaint, loads nothing, and reads as tables
// without scripts.
#include "sextant/reports/html.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "sextant/reference/error.hpp"
#include "sextant/reports/example_run_test.hpp"
#include "sextant/reports/page/page.hpp"

namespace sextant {
namespace {

constexpr const char* kGrade =
    R"json({"schema_version":1,"document":"grade","encoding":"rope(dim=8,theta=10000)","kernel":"mine",
"totals":[{"stage":"total","position":0,"pair":0,"function":"cos","signed_total":0},
{"stage":"total","position":3,"pair":1,"function":"sin","signed_total":-0.25}],
"stages":[{"stage":"frequency","position":3,"pair":1,"function":"sin","signed_share":-0.5},
{"stage":"trig","position":3,"pair":1,"function":"sin","signed_share":0.25}]
})json";

Report example_report() {
  Report report;
  auto before = example_run();
  before.environment.time = "2026-01-30T00:00:00Z";
  before.result.drift[0].by_octave[2].max_abs = 0.125;
  report.runs = {{"before", before}, {"now", example_run()}};
  report.grades = {parse_grade(kGrade, "grade.json")};
  report.changes = compare(report.runs[1].run, report.runs[0].run, "now", "before");
  return report;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// What headless Chromium makes of pages.
class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "chromium is not installed: the page was NOT tested in a browser";
    char name[] = "/tmp/sextant_test.XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  /// The document after its scripts ran; what they complained of goes to console_.
  std::string dom(const std::string& html, const std::string& state) {
    std::ofstream(folder_ / "page.html") << html;
    const std::string line = fmt::format(
        "cd {0} && HOME={0} timeout 120 chromium --headless --no-sandbox --disable-gpu "
        "--disable-dev-shm-usage "
        "--user-data-dir={0}/profile --virtual-time-budget=4000 --enable-logging=stderr --dump-dom "
        "'file://{0}/page.html{1}' >dom.html 2>log.txt",
        folder_.string(), state);
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 0);
    console_.clear();
    std::ifstream log(folder_ / "log.txt");
    for (std::string text; std::getline(log, text);) {
      if (text.find("CONSOLE") != std::string::npos) console_ += text + "\n";
    }
    std::stringstream text;
    text << std::ifstream(folder_ / "dom.html").rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
  std::string console_;
};

TEST_F(Browser, renders_draws_and_filters_without_a_complaint) {
  const std::string html = to_html(example_report());
  const std::string all = dom(html, "");
  EXPECT_EQ(console_, "");
  const bool charts = !page_charts().empty();
  EXPECT_NE(all.find(charts ? "data-ready=\"charts\"" : "data-ready=\"tables\""), std::string::npos);
  EXPECT_NE(all.find("data-shown=\"6\""), std::string::npos);
  // A chart that was drawn has given its canvas a size.
  if (charts) {
    for (const char* id : {"drift-chart", "ulp-chart", "stage-chart-0", "trend-chart"})
      EXPECT_NE(all.find(fmt::format("<canvas id=\"{}\" role=\"img\"", id)), std::string::npos) << id;
    EXPECT_EQ(count(all, "style=\"display: block;"), 4u);
  }
  EXPECT_NE(dom(html, "#q=sigsegv").find("data-shown=\"1\""), std::string::npos);
  EXPECT_NE(dom(html, "#verdict=pass&on=simd%2FAVX2").find("data-shown=\"3\""), std::string::npos);
  EXPECT_NE(dom(html, "#q=no+such+thing").find("data-shown=\"0\""), std::string::npos);
  EXPECT_EQ(console_, "");
}

TEST_F(Browser, hostile_names_stay_text) {
  Report report = example_report();
  const std::string hostile =
      "</script></title><script>document.documentElement.dataset.owned=1;console.error('owned')</script>"
      "<img src=x onerror=console.error('owned')>\" onload=\"<!--";
  auto& run = report.runs[1].run;
  run.result.verdicts[1].kernel = run.result.verdicts[2].reason = run.environment.host = hostile;
  run.result.drift[0].kernel = *(run.result.drift[0].model = hostile);
  run.result.verdicts[1].witness->function = hostile;
  report.runs[1] = NamedRun("now", run);
  report.runs[1].name = report.grades[0].kernel = hostile;
  report.grades[0].points[1].shares[0].first = hostile;
  report.changes = compare(report.runs[1].run, report.runs[0].run, hostile, "before");
  const std::string page = dom(to_html(report), "");
  EXPECT_EQ(console_, "");
  EXPECT_EQ(page.find("data-owned"), std::string::npos);
  EXPECT_NE(page.find("data-ready"), std::string::npos);
}

TEST(html, loads_nothing_and_has_every_figure_in_a_table) {
  const std::string html = to_html(example_report());
  for (const char* remote : {"src=", "href=\"http", "@import", "url("}) {
    const std::string without = html.substr(0, html.find("<script>"));  // Chart.js names things so
    EXPECT_EQ(without.find(remote), std::string::npos) << remote;
  }
  for (const char* figure : {"0.25", "5.5e-08", "killed by SIGSEGV", "sextant replay", "-5.00e-01", "▲",
                             "worse", "position 9, pair 1, b: got -0.75, want 0.5", "93.8 %",
                             "mine on llama-2-7b, where the error is largest"})
    EXPECT_NE(html.find(figure), std::string::npos) << figure;
  EXPECT_EQ(count(html, "<script"), page_charts().empty() ? 2u : 3u);
}

TEST(html, trends_mark_what_is_worse_and_only_what_can_be_compared) {
  Report report = example_report();
  const auto page = [&](const std::function<void(sextant::Run&)>& change) {
    auto run = example_run();
    change(run);
    report.runs[1] = NamedRun("now", run);
    return to_html(report);
  };
  EXPECT_NE(page([](sextant::Run&) {}).find("▲ 0.25<"), std::string::npos);
  for (const auto& change : std::vector<std::function<void(sextant::Run&)>>{
           [](sextant::Run& run) { run.environment.libm_fingerprint = "other"; },
           [](sextant::Run& run) { run.seed = 8; },
           [](sextant::Run& run) { run.result.drift[0].encoding = "rope(dim=8,theta=20000)"; }}) {
    const std::string html = page(change);
    EXPECT_EQ(html.find("▲ 0.25<"), std::string::npos);
    EXPECT_NE(html.find("≠</span> 0.25<"), std::string::npos);
  }
  // Between them a run of another machine, and one without the kernel: the first still counts.
  auto machine = example_run(), without = example_run();
  machine.environment.libm_fingerprint = "other";
  without.result.drift.clear();
  report.runs = {report.runs[0], NamedRun("b", machine), NamedRun("c", without),
                 NamedRun("d", example_run())};
  EXPECT_NE(to_html(report).find("▲ 0.25<"), std::string::npos);
}

TEST(html, planted_faults_are_shown_against_laws) {
  Report report = example_report();
  for (VerdictRecord& record : report.runs[1].run.result.verdicts) record.kernel.insert(0, "fault:");
  EXPECT_NE(to_html(report).find("<td class=\"caught\">caught</td>"), std::string::npos);
}

TEST(html, a_damaged_grade_is_refused) {
  EXPECT_EQ(parse_grade(kGrade, "g").points.at(1).shares.size(), 2u);
  EXPECT_THROW((void)parse_grade("{\"schema_version\":2}", "g"), InputError);
  EXPECT_THROW((void)parse_grade(std::string(kGrade).substr(0, 200), "g"), InputError);
}

}  // namespace
}  // namespace sextant
