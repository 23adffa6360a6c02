// Writing Markdown and annotations.
#include "sextant/reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/reports/escape.hpp"
#include "sextant/reports/groups.hpp"

namespace sextant {
namespace {

constexpr std::size_t kMostChanges = 8;
constexpr std::size_t kMostFailures = 5;
constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kMostAnnotations = 10;

std::string counts_of(const Run& run) {
  std::string text;
  for (const auto& [verdict, count] : summary_of(run)) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(verdict));
  }
  return text.empty() ? "no verdicts" : text;
}

std::string headline(const Run& run, const std::optional<Gate>& changes) {
  std::string status = "passed";
  if (!run.result.audit.kept()) {
    status = "cannot be trusted: the truth failed its audit";
  } else if (exit_status(run) == 3) {
    status = "verified nothing";
  } else if (exit_status(run) != 0) {
    status = "found failures";
  }
  if (changes && exit_status(*changes) == 1)
    status += fmt::format(", and drifted from its baseline ({} worse)", changes->drift.size());
  return status;
}

/// Long encodings are cut: a comment has a limit.
std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : fmt::format("{}..", text.substr(0, most));
}

std::string measured(const VerdictRecord& record) {
  if (!record.reason.empty()) return record.reason;
  if (!record.measure.witness) return "";
  return fmt::format("{:.4g} {}, bound {:.4g}", record.measure.worst, record.measure.unit,
                     record.measure.bound);
}

void add_changes(const Gate& gate, std::string& text) {
  text += fmt::format("\n### What changed\n\n{} worse, {} better; {} verdicts and {} measures compared\n",
                      gate.drift.size(), gate.improvements.size(), gate.verdicts, gate.measures);
  const auto table = [&](const char* title, const std::vector<Change>& changes) {
    if (changes.empty()) return;
    text += fmt::format("\n| {} | was | now |\n|---|---|---|\n", title);
    for (std::size_t i = 0; i < std::min(kMostChanges, changes.size()); ++i)
      text += fmt::format("| {} | {} | {} |\n", markdown_escaped(cut(changes[i].key, 160)),
                          markdown_escaped(cut(changes[i].before, 160)),
                          markdown_escaped(cut(changes[i].after, 160)));
    if (changes.size() > kMostChanges)
      text += fmt::format("\n... and {} more\n", changes.size() - kMostChanges);
  };
  table("worse", gate.drift);
  if (!gate.drift.empty()) text += fmt::format("\n{}", code_block(cut(gate.drift[0].replay, 2000)));
  table("better", gate.improvements);
  for (const std::string& note : gate.notes) text += fmt::format("\n_{}_\n", markdown_escaped(note));
}

}  // namespace

std::string to_markdown(const Run& run, const std::optional<Gate>& changes) {
  std::string text = fmt::format("## Sextant {}\n\n{}; {} models, seed {}\n", headline(run, changes),
                                 counts_of(run), run.models, run.seed);
  for (const MissingKernel& missing : run.missing)
    text +=
        fmt::format("\nrequired kernel {} is unavailable: {}\n", markdown_escaped(cut(missing.kernel, 80)),
                    markdown_escaped(cut(missing.reason, 160)));
  if (changes) add_changes(*changes, text);
  const std::vector<const VerdictRecord*> failures = failures_of(run);
  if (!failures.empty()) {
    text +=
        "\n### Failures, worst first\n\n| kernel | law on operation | of | verdict | measured "
        "|\n|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < std::min(kMostFailures, failures.size()); ++i) {
      const VerdictRecord& record = *failures[i];
      text +=
          fmt::format("| {} | {} on {}, {} | {} | **{}** | {} |\n", markdown_escaped(cut(record.kernel, 80)),
                      markdown_escaped(cut(record.law, 80)), to_string(record.operation),
                      to_string(record.dtype), markdown_escaped(cut(subject_of(record), 120)),
                      to_string(record.verdict), markdown_escaped(cut(measured(record), 160)));
    }
    if (failures.size() > kMostFailures)
      text += fmt::format("\n... and {} more\n", failures.size() - kMostFailures);
    text += fmt::format("\n{}", code_block(cut(command_of(*failures[0], run), 2000)));
  }
  const std::vector<KernelSummary> kernels = kernels_of(run);
  if (!kernels.empty()) {
    text +=
        "\n### Kernels\n\n| kernel | passed | largest error / bound | drift: worst &#124;error&#124; "
        "|\n|---|---:|---|---|\n";
    for (std::size_t i = 0; i < std::min(kMostKernels, kernels.size()); ++i) {
      const KernelSummary& kernel = kernels[i];
      const std::string near = kernel.worst
                                   ? fmt::format("{:.3g}: {} on {}", kernel.worst->measure.share(),
                                                 kernel.worst->law, cut(subject_of(*kernel.worst), 80))
                                   : std::string();
      text += fmt::format("| {} | {}/{} | {} | {} |\n", markdown_escaped(cut(kernel.name, 80)), kernel.passed,
                          kernel.judged, markdown_escaped(near),
                          kernel.drift ? fmt::format("{:.2g}", kernel.drift_error) : "");
    }
    if (kernels.size() > kMostKernels)
      text += fmt::format("\n... and {} more\n", kernels.size() - kMostKernels);
  }
  return text;
}

std::string to_annotations(const Run& run, const std::optional<Gate>& changes) {
  std::string text;
  std::size_t said = 0;
  const auto say = [&](const char* kind, const std::string& title, const std::string& message) {
    if (said++ >= kMostAnnotations) return;
    text += fmt::format("::{} title={}::{}\n", kind, annotation_escaped(cut(title, 160), true),
                        annotation_escaped(cut(message, 3000), false));
  };
  if (!run.result.audit.kept())
    say("error", "sextant", "the truth failed its audit: trust no verdict of this run");
  for (const MissingKernel& missing : run.missing)
    say("error", fmt::format("required kernel {} is unavailable", missing.kernel), missing.reason);
  if (changes) {
    for (const Change& change : changes->drift)
      say("error", fmt::format("drift: {}", change.key),
          fmt::format("was {}\nnow {}\n{}", change.before, change.after, change.replay));
  }
  for (const VerdictRecord* record : failures_of(run))
    say("error",
        fmt::format("{} {}: {} on {}", to_string(record->verdict), record->kernel, record->law,
                    subject_of(*record)),
        fmt::format("{}\n{}", measured(*record), command_of(*record, run)));
  return text;
}

}  // namespace sextant
