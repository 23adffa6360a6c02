// Writing JUnit XML.
#include "sextant/reports/junit.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sextant/reports/escape.hpp"
#include "sextant/reports/gate.hpp"

namespace sextant {
namespace {

std::string message_of(const VerdictRecord& record) {
  if (!record.reason.empty()) return record.reason;
  if (!record.measure.witness) return std::string(to_string(record.verdict));
  return fmt::format("worst {:.9g} {}, bound {:.9g}", record.measure.worst, record.measure.unit,
                     record.measure.bound);
}

std::string details_of(const VerdictRecord& record, const Run& run) {
  std::string text = fmt::format("{} on {}", record.law, record.encoding.value_or("no encoding"));
  if (record.measure.witness)
    text += fmt::format("\nworst {:.9g} {}, bound {:.9g}", record.measure.worst, record.measure.unit,
                        record.measure.bound);
  if (record.witness)
    text += fmt::format("\nposition {}, pair {}, {}: got {:.9g}, want {:.17g}", record.witness->position,
                        record.witness->pair, record.witness->function, record.witness->got,
                        record.witness->want);
  if (!record.replay.empty()) text += fmt::format("\n{}", command_of(record, run));
  return text;
}

/// What CI calls a verdict; pass has no tag.
std::string_view tag_of(Verdict verdict) {
  if (verdict == Verdict::pass) return "";
  if (verdict > Verdict::pass) return "skipped";
  return verdict == Verdict::fail ? "failure" : "error";
}

std::string test_case(std::string_view class_name, std::string_view name, std::string_view tag,
                      std::string_view type, std::string_view message, std::string_view details) {
  const std::string head =
      fmt::format("<testcase classname=\"{}\" name=\"{}\"", xml_escaped(class_name), xml_escaped(name));
  if (tag.empty()) return fmt::format("{}/>\n", head);
  return fmt::format("{0}><{1} type=\"{2}\" message=\"{3}\">{4}</{1}></testcase>\n", head, tag, type,
                     xml_escaped(message), xml_escaped(details));
}

}  // namespace

std::string to_junit(const Run& run) {
  const bool kept = run.result.audit.kept();
  std::size_t tests = 1 + run.missing.size(), failures = 0, errors = (kept ? 0 : 1) + run.missing.size();
  std::size_t skipped = 0;
  for (const auto& [verdict, count] : summary_of(run)) {
    tests += count;
    if (verdict == Verdict::fail) {
      failures += count;
    } else if (verdict < Verdict::pass) {
      errors += count;
    } else if (verdict > Verdict::pass) {
      skipped += count;
    }
  }
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"sextant verify\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      tests, failures, errors, skipped, run.seconds);
  xml += test_case("sextant.truth", "audit", kept ? "" : "error", "mistrusted",
                   "the truth itself failed its audit against MPFR", "");
  for (const MissingKernel& missing : run.missing)
    xml += test_case("sextant.required", missing.kernel, "error", "unavailable", missing.reason, "");
  for (const VerdictRecord& record : run.result.verdicts) {
    const std::string about = record.model.value_or(record.encoding.value_or("any encoding"));
    xml += test_case(fmt::format("{}.{}", record.kernel, record.law),
                     fmt::format("{}/{}/{}", about, to_string(record.operation), to_string(record.dtype)),
                     tag_of(record.verdict), to_string(record.verdict), message_of(record),
                     details_of(record, run));
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace sextant
