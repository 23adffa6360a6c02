// Writing the page: tables first, then the data that its script draws.
#include "sextant/reports/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/fixtures/models/fields.hpp"
#include "sextant/reference/encoding.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/escape.hpp"
#include "sextant/reports/groups.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/page/page.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostFailures = 3000;  // rows of the page; more are counted
constexpr std::size_t kMostChanges = 60;
constexpr std::size_t kMostGrades = 12;
constexpr std::size_t kMostRunColumns = 12;
constexpr const char* kTall = "scroll tall";  // a box that scrolls: of many rows
constexpr const char* kEverything = "worst of all encodings";

std::string subject_of(const DriftRecord& drift) { return drift.model.value_or(drift.encoding); }

std::string sparse(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "inf"; }

/// A table with a head; cells are HTML. Columns whose title starts with '#' hold numbers.
class Table {
 public:
  explicit Table(const std::vector<std::string>& titles, const char* box = "scroll",
                 const char* attributes = "") {
    html_ = fmt::format("<div class=\"{}\"><table{}><thead><tr>", box, attributes);
    for (const std::string& title : titles) {
      is_number_.push_back(title.starts_with('#'));
      html_ += fmt::format("<th{}>{}</th>", is_number_.back() ? " class=\"n\"" : "",
                           xml_escaped(is_number_.back() ? title.substr(1) : title));
    }
    html_ += "</tr></thead><tbody>\n";
  }
  void row(const std::vector<std::string>& cells, const std::string& attributes = "") {
    html_ += fmt::format("<tr{}>", attributes);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool tagged = cells[i].starts_with("<td");
      if (tagged) {
        html_ += cells[i];
      } else {
        html_ += fmt::format("<td{}>{}</td>", is_number_[i] ? " class=\"n\"" : "", cells[i]);
      }
    }
    html_ += "</tr>\n";
  }
  [[nodiscard]] std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  std::vector<bool> is_number_;
  std::string html_;
};

std::string long_cell(const std::string& html) { return fmt::format("<td class=\"long\">{}</td>", html); }

std::string verdict_html(Verdict verdict) {
  return fmt::format("<span class=\"{0}\">{0}</span>", to_string(verdict));
}

std::string command_html(const std::string& command) {
  return fmt::format("<details><summary>replay</summary><code>{}</code></details>", xml_escaped(command));
}

std::string witness_html(const std::optional<Witness>& witness) {
  if (!witness) return "";
  return fmt::format("position {}, pair {}, {}: got {:.9g}, want {:.12g}", witness->position, witness->pair,
                     xml_escaped(witness->function), witness->got, witness->want);
}

std::string tile(std::string_view value, std::string_view what, std::string_view kind = "") {
  return fmt::format("<div class=\"tile\"><b class=\"{}\">{}</b>{}</div>\n", kind, value, what);
}

// ---- sections ----

void add_summary(const Report& report, std::string& html) {
  const Run& run = report.runs.back().run;
  html += "<section id=\"summary\">\n<div class=\"tiles\">\n";
  for (const auto& [verdict, count] : summary_of(run)) {
    if (count > 0) html += tile(fmt::format("{}", count), to_string(verdict), to_string(verdict));
  }
  html += tile(fmt::format("{}", run.models), "models");
  html += tile(sparse(static_cast<double>(run.result.elements)), "elements judged");
  html += tile(sparse(static_cast<double>(run.result.no_claim)), "without claim");
  html += "</div>\n";
  if (run.result.audit.kept()) {
    html += fmt::format(
        "<p class=\"quiet\">Truth audited against MPFR at {} points: all within the proved bounds.</p>\n",
        run.result.audit.points);
  } else {
    html += "<p class=\"fail\">The truth failed its audit: trust no verdict of this run.</p>\n";
  }
  for (const MissingKernel& missing : run.missing)
    html += fmt::format("<p class=\"fail\">Required kernel {} is unavailable: {}</p>\n",
                        xml_escaped(missing.kernel), xml_escaped(missing.reason));
  Table table({"kernel", "#passed", "#of", "#not offered", "#largest error / bound", "by",
               "#drift: worst |error|", "#keep exact-angle"});
  for (const KernelSummary& kernel : kernels_of(run)) {
    std::string by;
    if (kernel.worst) {
      by = xml_escaped(fmt::format("{} on {}", kernel.worst->law, subject_of(*kernel.worst)));
    } else if (kernel.judged == 0 && kernel.idle) {
      by = fmt::format("<span class=\"unavailable\">{}: {}</span>", to_string(kernel.idle->verdict),
                       xml_escaped(kernel.idle->reason));
    }
    table.row({fmt::format("<td class=\"name\">{}</td>", xml_escaped(kernel.name)),
               fmt::format("<span class=\"{}\">{}</span>",
                           kernel.judged == 0               ? "unavailable"
                           : kernel.passed == kernel.judged ? "pass"
                                                            : "fail",
                           kernel.passed),
               fmt::format("{}", kernel.judged), fmt::format("{}", kernel.neutral),
               kernel.worst ? sparse(kernel.worst->measure.share()) : "", long_cell(by),
               kernel.drift ? sparse(kernel.drift_error) : "",
               kernel.encodings > 0 ? fmt::format("{} of {}", kernel.kept, kernel.encodings) : ""});
  }
  html += table.html() + "</section>\n";
}

void add_changes(const Gate& gate, std::string& html) {
  html += fmt::format(
      "<section id=\"changes\"><h2>What changed since the run before</h2>\n<p>{} worse, {} better; {} "
      "verdicts and {} measures compared.</p>\n",
      gate.drift.size(), gate.improvements.size(), gate.verdicts, gate.measures);
  for (const std::string& note : gate.notes)
    html += fmt::format("<p class=\"quiet\">{}</p>\n", xml_escaped(note));
  if (gate.drift.size() + gate.improvements.size() > 0) {
    Table table({"", "what", "was", "now", "witness and replay"}, kTall);
    const auto add = [&](const std::vector<Change>& changes, const char* kind) {
      for (std::size_t i = 0; i < std::min(kMostChanges, changes.size()); ++i) {
        const Change& change = changes[i];
        table.row({fmt::format("<span class=\"{0}\">{0}</span>", kind), long_cell(xml_escaped(change.key)),
                   xml_escaped(change.before), xml_escaped(change.after),
                   fmt::format("{}{}", witness_html(change.witness), command_html(change.replay))});
      }
    };
    add(gate.drift, "worse");
    add(gate.improvements, "better");
    html += table.html();
    if (std::max(gate.drift.size(), gate.improvements.size()) > kMostChanges)
      html += fmt::format("<p class=\"quiet\">The first {} of each are shown.</p>\n", kMostChanges);
  }
  html += "</section>\n";
}

/// Kernels whose figures agree share a column.
void add_drift(const Run& run, std::string& html) {
  if (run.result.drift.empty()) return;
  std::map<std::string, std::map<std::int64_t, double>> kernels;
  std::set<std::int64_t> octaves;
  for (const DriftRecord& drift : run.result.drift) {
    for (const DriftRecord::Octave& octave : drift.by_octave) {
      double& worst = kernels[drift.kernel][octave.first];
      worst = std::max(worst, octave.max_abs);
      octaves.insert(octave.first);
    }
  }
  std::map<std::map<std::int64_t, double>, std::vector<std::string>> columns;
  for (const auto& [kernel, curve] : kernels) columns[curve].push_back(kernel);
  html +=
      "<section id=\"drift\"><h2>Drift over positions</h2>\n<p class=\"quiet\">Worst |error| of cos and sin "
      "in the tables "
      "of each kernel, against the exact ones, at sampled positions of each octave: every position below 64, "
      "then seven an "
      "octave. A kernel with exact angles is flat; float32 angles drift in proportion to the position.</p>\n"
      "<div class=\"choose script-only needs-charts\"><label>encoding<select "
      "id=\"drift-model\"></select></label></div>\n"
      "<figure class=\"script-only needs-charts\"><div class=\"chart\"><canvas id=\"drift-chart\" "
      "role=\"img\" "
      "aria-label=\"worst error by position, one line per kernel\"></canvas></div></figure>\n"
      "<details class=\"table\" open><summary>as a table: worst of all encodings</summary>\n";
  std::vector<std::string> titles = {"#positions from"};
  for (const auto& [curve, names] : columns) titles.push_back(fmt::format("#{}", fmt::join(names, ", ")));
  Table table(titles);
  for (const std::int64_t octave : octaves) {
    std::vector<std::string> cells = {fmt::format("{}", octave)};
    for (const auto& [curve, names] : columns)
      cells.push_back(curve.contains(octave) ? sparse(curve.at(octave)) : "");
    table.row(cells);
  }
  html += table.html() + "</details></section>\n";
}

std::string bin_name(std::size_t bin) {
  if (bin == 0) return "≤ ½";
  if (bin == DriftRecord::kBins - 1) return "> 2^23";
  if (bin == 1) return "½–1";
  const auto bound = [](std::size_t power) {
    return power < 14 ? fmt::format("{}", 1 << power) : fmt::format("2^{}", power);
  };
  return fmt::format("{}–{}", bound(bin - 2), bound(bin - 1));
}

std::int64_t pairs_of(const std::string& encoding) {
  const Encoding parsed = parse_encoding(encoding);
  return std::get<Rope>(parsed).pairs();
}

/// The map of the tables with the largest error, where no script draws that of others.
std::string map_of(const Run& run) {
  const DriftRecord* worst = nullptr;
  double most = -1;
  for (const DriftRecord& drift : run.result.drift) {
    for (const DriftRecord::Octave& octave : drift.by_octave) {
      if (octave.max_abs <= most || octave.blocks.empty()) continue;
      most = octave.max_abs;
      worst = &drift;
    }
  }
  if (!worst) return "";
  const auto blocks = static_cast<std::int64_t>(worst->by_octave.front().blocks.size());
  const std::int64_t pairs = pairs_of(worst->encoding);
  std::vector<std::string> titles = {"#pairs"};
  for (const DriftRecord::Octave& octave : worst->by_octave)
    titles.push_back(fmt::format("#{}", octave.first));
  Table table(titles);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto first = [&](std::int64_t b) { return (b * pairs + blocks - 1) / blocks; };
    std::vector<std::string> cells = {fmt::format("{}–{}", first(block), first(block + 1) - 1)};
    for (const DriftRecord::Octave& octave : worst->by_octave) {
      const auto at = static_cast<std::size_t>(block);
      cells.push_back(at < octave.blocks.size() ? fmt::format("{:.1g}", octave.blocks[at]) : "");
    }
    table.row(cells);
  }
  return fmt::format(
      "<div class=\"script-none\"><p>{} on {}, where the error is largest: by first position of an "
      "octave and by pairs.</p>\n{}</div>\n",
      xml_escaped(worst->kernel), xml_escaped(subject_of(*worst)), table.html());
}

void add_places(const Run& run, std::string& html) {
  if (run.result.drift.empty()) return;
  html +=
      "<section id=\"places\"><h2>Where the error sits</h2>\n<p class=\"quiet\">Worst |error| by octave of "
      "positions and "
      "block of pairs (low pairs turn fast), and how many table entries are off by how many ulp. At most "
      "half an ulp is "
      "correctly rounded.</p>\n<div class=\"choose script-only\"><label>kernel<select "
      "id=\"place-kernel\"></select></label>"
      "<label>encoding<select id=\"place-model\"></select></label></div>\n<p id=\"place-none\" "
      "class=\"quiet\" hidden>No "
      "tables of this kernel were measured on this encoding.</p>\n<figure class=\"script-only\"><div "
      "class=\"scroll\" "
      "style=\"border:0\"><table id=\"map\" class=\"map\"></table></div><figcaption>columns: first position "
      "of an octave; "
      "rows: pairs</figcaption></figure>\n<figure class=\"script-only needs-charts\"><div class=\"chart "
      "low\"><canvas "
      "id=\"ulp-chart\" role=\"img\" aria-label=\"histogram of errors in "
      "ulp\"></canvas></div></figure>\n";
  html += map_of(run);
  html +=
      "<details class=\"table\" open><summary>as a table: entries by error, all encodings "
      "together</summary>\n";
  std::map<std::string, std::array<std::uint64_t, 6>> kernels;
  for (const DriftRecord& drift : run.result.drift) {
    auto& sums = kernels[drift.kernel];
    for (std::size_t bin = 0; bin < drift.ulp_histogram.size(); ++bin)
      sums[bin < 2 ? bin : bin < 6 ? 2 : bin < 12 ? 3 : bin < 22 ? 4 : 5] += drift.ulp_histogram[bin];
  }
  Table table({"kernel", "#entries", "#≤ ½ ulp", "#½–1", "#1–16", "#16–1024", "#1024–2^20", "#more"});
  for (const auto& [kernel, sums] : kernels) {
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums) all += sum;
    std::vector<std::string> cells = {xml_escaped(kernel), fmt::format("{}", all)};
    for (const std::uint64_t sum : sums)
      cells.push_back(
          sum == 0 ? "0"
                   : fmt::format("{:.3g} %", 100 * static_cast<double>(sum) / static_cast<double>(all)));
    table.row(cells);
  }
  html += table.html() + "</details></section>\n";
}

void add_stages(const Report& report, std::string& html) {
  html += "<section id=\"stages\"><h2>Error by stage</h2>\n";
  if (report.grades.empty()) {
    html +=
        "<p class=\"quiet\">Give documents of <code>sextant grade ENCODING --kernel K --json FILE</code> "
        "beside the "
        "runs to see how much of the error frequency, angle, trigonometry and rotation add.</p></section>\n";
    return;
  }
  html +=
      "<p class=\"quiet\">At the worst point of each sampled position: signed shares, which add up to the "
      "total "
      "exactly.</p>\n";
  for (std::size_t i = 0; i < std::min(kMostGrades, report.grades.size()); ++i) {
    const GradeDocument& grade = report.grades[i];
    html += fmt::format(
        "<h3>{} on {}</h3>\n<figure class=\"script-only needs-charts\"><div class=\"chart\"><canvas "
        "id=\"stage-chart-{}\" role=\"img\" aria-label=\"error by stage and "
        "position\"></canvas></div></figure>\n",
        xml_escaped(grade.kernel), xml_escaped(grade.encoding), i);
    std::vector<std::string> names;
    for (const StageErrors& point : grade.points) {
      for (const auto& [name, share] : point.shares) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    std::vector<std::string> titles = {"#position", "#pair", "function", "#total"};
    for (const std::string& name : names) titles.push_back("#" + name);
    html += "<details class=\"table\" open><summary>as a table</summary>\n";
    Table table(titles);
    for (const StageErrors& point : grade.points) {
      std::vector<std::string> cells = {fmt::format("{}", point.position), fmt::format("{}", point.pair),
                                        xml_escaped(point.function), fmt::format("{:+.2e}", point.total)};
      for (const std::string& name : names) {
        const auto at = std::find_if(point.shares.begin(), point.shares.end(),
                                     [&](const auto& share) { return share.first == name; });
        cells.push_back(at == point.shares.end() ? "" : fmt::format("{:+.2e}", at->second));
      }
      table.row(cells);
    }
    html += table.html() + "</details>\n";
  }
  if (report.grades.size() > kMostGrades)
    html += fmt::format("<p class=\"quiet\">{} more grades are not shown.</p>\n",
                        report.grades.size() - kMostGrades);
  html += "</section>\n";
}

/// Planted faults against laws: which law catches which.
void add_faults(const Run& run, std::string& html) {
  std::map<std::string, std::map<std::string, Verdict>> faults;
  std::set<std::string> laws;
  for (const LawSummary& law : laws_of(run)) {
    if (!law.kernel.starts_with("fault:") || law.verdict > Verdict::pass) continue;
    const auto [at, is_new] = faults[law.kernel].emplace(law.law, law.verdict);
    if (!is_new) at->second = std::min(at->second, law.verdict);
    laws.insert(law.law);
  }
  if (faults.empty()) return;
  html +=
      "<section id=\"faults\"><h2>Planted faults</h2>\n<p class=\"quiet\">Which law catches which fault; a "
      "kernel with a fault that none catches would pass.</p>\n";
  std::vector<std::string> titles = {"fault", "caught by"};
  for (const std::string& law : laws) titles.push_back(law);
  Table table(titles);
  for (const auto& [fault, verdicts] : faults) {
    std::size_t caught = 0;
    for (const auto& [law, verdict] : verdicts) caught += verdict < Verdict::pass;
    std::vector<std::string> cells = {xml_escaped(fault), fmt::format("<span class=\"{}\">{} laws</span>",
                                                                      caught > 0 ? "pass" : "fail", caught)};
    for (const std::string& law : laws) {
      const auto at = verdicts.find(law);
      cells.emplace_back(at == verdicts.end()         ? "<td></td>"
                         : at->second < Verdict::pass ? "<td class=\"caught\">caught</td>"
                                                      : "<td class=\"blind\">–</td>");
    }
    table.row(cells);
  }
  html += table.html() + "</section>\n";
}

void add_verdicts(const Run& run, std::string& html) {
  html +=
      "<section id=\"verdicts-section\"><h2>Verdicts</h2>\n<p class=\"quiet\">Every failure, worst first; "
      "then, of each "
      "kernel, law, operation and dtype, the encoding that comes nearest to its bound.</p>\n<div "
      "class=\"choose script-only\">"
      "<label>search<input id=\"search\" type=\"search\" placeholder=\"words: kernel, law, model, position "
      "..\"></label>"
      "<label>verdict<select id=\"search-verdict\"><option "
      "value=\"\">all</option></select></label><label>kernel"
      "<select id=\"search-kernel\"><option value=\"\">all</option></select></label><span id=\"shown\" "
      "class=\"quiet\" "
      "aria-live=\"polite\"></span></div>\n";
  Table table({"verdict", "kernel", "law on operation", "dtype", "encoding", "#error / bound",
               "measured, witness, replay"},
              kTall, " id=\"verdicts\"");
  const auto add = [&](const VerdictRecord& record, const std::string& of, const std::string& command) {
    std::string text = xml_escaped(record.reason);
    if (record.measure.witness) {
      text += fmt::format("{}{:.6g} {}, bound {:.6g}", text.empty() ? "" : "; ", record.measure.worst,
                          xml_escaped(record.measure.unit), record.measure.bound);
      const std::string witness = witness_html(record.witness);
      if (!witness.empty()) text += fmt::format("<br><span class=\"quiet\">{}</span>", witness);
    }
    table.row(
        {verdict_html(record.verdict), fmt::format("<td class=\"name\">{}</td>", xml_escaped(record.kernel)),
         xml_escaped(fmt::format("{} on {}", record.law, to_string(record.operation))),
         std::string(to_string(record.dtype)),
         long_cell(fmt::format("{}{}", xml_escaped(subject_of(record)), of)),
         record.measure.witness ? sparse(record.measure.share()) : "",
         long_cell(fmt::format("{}{}", text, command_html(command)))},
        fmt::format(" data-verdict=\"{}\" data-kernel=\"{}\"", to_string(record.verdict),
                    xml_escaped(record.kernel)));
  };
  const std::vector<const VerdictRecord*> failures = failures_of(run);
  for (std::size_t i = 0; i < std::min(kMostFailures, failures.size()); ++i)
    add(*failures[i], "", command_of(*failures[i], run));
  std::vector<LawSummary> laws = laws_of(run);
  std::stable_sort(laws.begin(), laws.end(), [](const LawSummary& a, const LawSummary& b) {
    return a.verdict != b.verdict ? a.verdict < b.verdict
                                  : a.worst->measure.share() > b.worst->measure.share();
  });
  for (const LawSummary& law : laws) {
    if (law.verdict < Verdict::pass) continue;
    add(*law.worst, law.count > 1 ? fmt::format(" <span class=\"quiet\">worst of {}</span>", law.count) : "",
        command_of(*law.worst, run));
  }
  html +=
      "<p class=\"quiet print-only\">What passed or was not offered is printed only where a filter chooses "
      "it.</p>\n";
  html += table.html();
  if (failures.size() > kMostFailures)
    html += fmt::format("<p class=\"fail\">{} failures more are not shown.</p>\n",
                        failures.size() - kMostFailures);
  html += "</section>\n";
}

// ---- trends ----

/// A value against that of the nearest run before with which it can be compared.
enum class Step { first, no_worse, worse, other };  // other: there are only runs of other inputs before

struct Trend {
  std::string name;
  bool log = true;
  struct Line {
    std::vector<std::optional<double>> values;  // one for each run
    std::vector<Step> steps;
  };
  std::map<std::string, Line> kernels;
};

enum class Figure { share, drift, ulp, not_passed };

std::optional<double> value_of(const TrendPoint& point, Figure figure) {
  switch (figure) {
    case Figure::share:
      return point.largest_share;
    case Figure::drift:
      return point.drift_error;
    case Figure::ulp:
      return point.mean_ulp;
    case Figure::not_passed:
      break;
  }
  return point.not_passed;
}

/// Measures are compared as the gate compares them, and where they are of the same laws and encodings; a
/// verdict that is bad is bad anywhere.
bool comparable(const NamedRun& before, const NamedRun& now, const std::string& kernel, Figure figure) {
  if (figure == Figure::not_passed) return true;
  const TrendPoint &a = before.trend.at(kernel), &b = now.trend.at(kernel);
  const bool of_tables = figure == Figure::drift || figure == Figure::ulp;
  return (of_tables ? a.tables == b.tables : a.verdicts == b.verdicts) &&
         comparable(now.run, before.run, kernel);
}

Step step_at(const std::vector<NamedRun>& runs, std::size_t at, const std::string& kernel, Figure figure) {
  Step step = Step::first;
  for (std::size_t i = at; i-- > 0;) {
    const auto before = runs[i].trend.find(kernel);
    if (before == runs[i].trend.end()) continue;
    const std::optional<double> value = value_of(before->second, figure);
    if (!value) continue;
    if (comparable(runs[i], runs[at], kernel, figure))
      return *value_of(runs[at].trend.at(kernel), figure) > *value ? Step::worse : Step::no_worse;
    step = Step::other;
  }
  return step;
}

std::vector<Trend> trends_of(const std::vector<NamedRun>& runs) {
  std::vector<Trend> trends;
  for (const auto& [figure, name] :
       {std::pair(Figure::share, "largest error / bound"),
        std::pair(Figure::drift, "worst |error| of tables"), std::pair(Figure::ulp, "mean ulp of tables"),
        std::pair(Figure::not_passed, "verdicts that are not pass")}) {
    Trend& trend = trends.emplace_back(Trend{name, figure != Figure::not_passed, {}});
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (const auto& [kernel, point] : runs[i].trend) {
        const std::optional<double> value = value_of(point, figure);
        if (!value) continue;
        Trend::Line& line = trend.kernels[kernel];
        line.values.resize(runs.size());
        line.steps.resize(runs.size());
        line.values[i] = value;
        line.steps[i] = step_at(runs, i, kernel, figure);
      }
    }
  }
  return trends;
}

std::string step_html(double value, Step step) {
  if (step == Step::worse) return fmt::format("<span class=\"worse\">▲ {}</span>", sparse(value));
  if (step == Step::other) return fmt::format("<span class=\"quiet\">≠</span> {}", sparse(value));
  return sparse(value);
}

void add_trends(const Report& report, const std::vector<Trend>& trends, std::string& html) {
  if (report.runs.size() < 2) return;
  html +=
      "<section id=\"trends\"><h2>Trends over runs</h2>\n<p class=\"quiet\">A red triangle, or <span "
      "class=\"worse\">▲</span>, marks what is worse than in the nearest comparable run before; ≠ "
      "has none: version, seed, options, libm, CPU target or coverage differ.</p>\n<div class=\"choose "
      "script-only "
      "needs-charts\"><label>measure<select id=\"trend-measure\"></select></label></div>\n<figure "
      "class=\"script-only "
      "needs-charts\"><div class=\"chart\"><canvas id=\"trend-chart\" role=\"img\" aria-label=\"measures "
      "over "
      "runs\"></canvas></div></figure>\n";
  const std::size_t first = report.runs.size() > kMostRunColumns ? report.runs.size() - kMostRunColumns : 0;
  std::vector<std::string> titles = {"measure", "kernel"};
  for (std::size_t i = first; i < report.runs.size(); ++i)
    titles.push_back(
        fmt::format("#{} {}", report.runs[i].name, report.runs[i].run.environment.time.substr(0, 10)));
  Table table(titles);
  for (const Trend& trend : trends) {
    for (const auto& [kernel, line] : trend.kernels) {
      std::vector<std::string> cells = {trend.name, xml_escaped(kernel)};
      for (std::size_t i = first; i < line.values.size(); ++i)
        cells.push_back(line.values[i] ? step_html(*line.values[i], line.steps[i]) : "");
      table.row(cells);
    }
  }
  html += fmt::format("<details class=\"table\"{}><summary>as a table</summary>\n{}</details></section>\n",
                      " open", table.html());
}

// ---- data ----

/// Ten times the decimal logarithm, rounded: what a colour can show.
ordered_json level_of(double value) {
  if (value == 0) return nullptr;
  return std::isfinite(value) ? ordered_json(std::lround(10 * std::log10(value))) : ordered_json(400);
}

ordered_json finite(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(1e38); }

ordered_json data_of(const Report& report, const std::vector<Trend>& trends) {
  ordered_json drift = ordered_json::array();
  for (const DriftRecord& record : report.runs.back().run.result.drift) {
    ordered_json octaves = ordered_json::array();
    double worst = 0;
    for (const DriftRecord::Octave& octave : record.by_octave) {
      ordered_json blocks = ordered_json::array();
      for (const double block : octave.blocks) blocks.push_back(level_of(block));
      octaves.push_back({octave.first, finite(octave.max_abs), std::move(blocks)});
      worst = std::max(worst, octave.max_abs);
    }
    if (octaves.empty()) continue;
    drift.push_back({{"kernel", record.kernel},
                     {"model", subject_of(record)},
                     {"pairs", pairs_of(record.encoding)},
                     {"worst", finite(worst)},
                     {"histogram", record.ulp_histogram},
                     {"octaves", std::move(octaves)}});
  }
  ordered_json bins = ordered_json::array();
  for (std::size_t bin = 0; bin < DriftRecord::kBins; ++bin) bins.push_back(bin_name(bin));
  ordered_json stages = ordered_json::array();
  for (std::size_t i = 0; i < std::min(kMostGrades, report.grades.size()); ++i) {
    ordered_json points = ordered_json::array();
    for (const StageErrors& point : report.grades[i].points) {
      ordered_json shares = ordered_json::array();
      for (const auto& [name, share] : point.shares) shares.push_back({name, finite(share)});
      points.push_back(
          {{"position", point.position}, {"total", finite(point.total)}, {"shares", std::move(shares)}});
    }
    stages.push_back({{"points", std::move(points)}});
  }
  ordered_json over_runs = nullptr;
  if (report.runs.size() > 1) {
    ordered_json runs = ordered_json::array(), measures = ordered_json::array();
    for (const NamedRun& run : report.runs) runs.push_back(run.name);
    for (const Trend& trend : trends) {
      ordered_json kernels = ordered_json::array();
      for (const auto& [kernel, line] : trend.kernels) {
        ordered_json list = ordered_json::array(), worse = ordered_json::array();
        for (std::size_t i = 0; i < line.values.size(); ++i) {
          list.push_back(line.values[i] ? finite(*line.values[i]) : ordered_json(nullptr));
          worse.push_back(line.steps[i] == Step::worse);
        }
        kernels.push_back({kernel, std::move(list), std::move(worse)});
      }
      measures.push_back({{"name", trend.name}, {"log", trend.log}, {"kernels", std::move(kernels)}});
    }
    over_runs = {{"runs", std::move(runs)}, {"measures", std::move(measures)}};
  }
  return {{"everything", kEverything},
          {"bins", std::move(bins)},
          {"drift", std::move(drift)},
          {"stages", std::move(stages)},
          {"trends", std::move(over_runs)}};
}

/// Added up, hashes tell sets apart in any order.
std::size_t hashed(const std::string& text) { return std::hash<std::string>()(text); }

/// JSON inside a script element: nothing in it ends the element or starts a comment.
std::string embedded(const ordered_json& value) {
  std::string text;
  for (const char c : value.dump(-1, ' ', true, ordered_json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

NamedRun::NamedRun(std::string name_, Run run_) : name(std::move(name_)), run(std::move(run_)) {
  std::map<std::string, std::pair<UlpSum, std::uint64_t>> sums;
  for (const DriftRecord& drift : run.result.drift) {
    auto& [sum, entries] = sums[drift.kernel];
    sum += drift.sum;
    trend[drift.kernel].tables +=
        hashed(fmt::format("{} {} {} {}", subject_of(drift), drift.encoding, drift.context, drift.positions));
    for (const std::uint64_t bin : drift.ulp_histogram) entries += bin;
  }
  for (const VerdictRecord& record : run.result.verdicts)
    trend[record.kernel].verdicts +=
        hashed(fmt::format("{} {} {} {} {}", record.law, to_string(record.operation), to_string(record.dtype),
                           subject_of(record), record.encoding.value_or("")));
  for (const KernelSummary& kernel : kernels_of(run)) {
    TrendPoint& point = trend[kernel.name];
    if (kernel.worst) point.largest_share = kernel.worst->measure.share();
    if (kernel.drift) point.drift_error = kernel.drift_error;
    point.not_passed = static_cast<double>(kernel.judged - kernel.passed);
    const auto& [sum, entries] = sums[kernel.name];
    if (entries > 0) point.mean_ulp = sum.ulp() / static_cast<double>(entries);
  }
}

GradeDocument parse_grade(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_document(text, file);
  if (at(document, "schema_version", file) != 1) refuse(file, "schema_version is another");
  GradeDocument grade;
  grade.kernel = text_at(document, "kernel", file);
  grade.encoding = text_at(document, "encoding", file);
  for (const auto& total : list_at(document, "totals", file)) {
    grade.points.push_back({integer_at<std::int64_t>(total, "position", file),
                            integer_at<std::int64_t>(total, "pair", file),
                            text_at(total, "function", file),
                            number_at(total, "signed_total", file),
                            {}});
  }
  for (const auto& share : list_at(document, "stages", file)) {
    const auto position = integer_at<std::int64_t>(share, "position", file);
    const auto at = std::find_if(grade.points.begin(), grade.points.end(),
                                 [&](const StageErrors& point) { return point.position == position; });
    if (at == grade.points.end()) refuse(file, fmt::format("position {} has stages and no total", position));
    at->shares.emplace_back(text_at(share, "stage", file), number_at(share, "signed_share", file));
  }
  return grade;
}

std::string to_html(const Report& report) {
  const NamedRun& last = report.runs.back();
  const Run& run = last.run;
  const int status = exit_status(run);
  const std::string title = fmt::format("Sextant report: {}", last.name);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n"
      "</head>\n<body>\n<h1>{}: <span class=\"{}\">{}</span></h1>\n",
      xml_escaped(title), page_style(), xml_escaped(title), status == 0 ? "pass" : "fail",
      status == 0   ? "passed"
      : status == 3 ? "nothing verified"
                    : "failures");
  const std::string facts[] = {run.environment.time,
                               run.environment.host,
                               run.environment.system,
                               fmt::format("sextant {}", run.version),
                               fmt::format("seed {}", run.seed),
                               run.arguments,
                               fmt::format("libm {}", run.environment.libm_fingerprint)};
  std::string about;
  for (const std::string& fact : facts) {
    if (!fact.empty()) about += fmt::format("{}{}", about.empty() ? "" : " · ", xml_escaped(fact));
  }
  html += fmt::format("<p class=\"quiet\">{}</p>\n", about);
  html += "<nav><a href=\"#summary\">Summary</a>";
  if (report.changes) html += "<a href=\"#changes\">Changes</a>";
  if (!run.result.drift.empty()) html += "<a href=\"#drift\">Drift</a><a href=\"#places\">Where</a>";
  html += "<a href=\"#stages\">Stages</a>";
  if (report.runs.size() > 1) html += "<a href=\"#trends\">Trends</a>";
  html += "<a href=\"#verdicts-section\">Verdicts</a></nav>\n";
  if (page_charts().empty())
    html += "<p class=\"quiet\">This sextant was built without Chart.js: tables stand alone.</p>\n";
  const std::vector<Trend> trends = report.runs.size() > 1 ? trends_of(report.runs) : std::vector<Trend>{};
  add_summary(report, html);
  if (report.changes) add_changes(*report.changes, html);
  add_drift(run, html);
  add_places(run, html);
  add_stages(report, html);
  add_trends(report, trends, html);
  add_faults(run, html);
  add_verdicts(run, html);
  html += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n",
                      embedded(data_of(report, trends)));
  if (!page_charts().empty()) html += fmt::format("<script>{}</script>\n", page_charts());
  html += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", page_script());
  return html;
}

}  // namespace sextant
