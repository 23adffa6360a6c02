// Writing JUnit XML.
#include "sextant/reports/junit.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace sextant {
namespace {

/// Length of the character of UTF-8 at the start of `text`, 0 where there is none (Unicode 15, table 3-7).
std::size_t character_at(std::string_view text) {
  const auto in = [&](std::size_t i, int low, int high) {
    return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
           static_cast<unsigned char>(text[i]) <= high;
  };
  const auto tail = [&](std::size_t i) { return in(i, 0x80, 0xbf); };
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf) && tail(1)) return 2;
  if (in(0, 0xe0, 0xef) && tail(1) && tail(2)) {
    const bool overlong = in(0, 0xe0, 0xe0) && !in(1, 0xa0, 0xbf);
    const bool surrogate = in(0, 0xed, 0xed) && !in(1, 0x80, 0x9f);
    return overlong || surrogate ? 0 : 3;
  }
  if (in(0, 0xf0, 0xf4) && tail(1) && tail(2) && tail(3)) {
    const bool overlong = in(0, 0xf0, 0xf0) && !in(1, 0x90, 0xbf);
    const bool beyond = in(0, 0xf4, 0xf4) && !in(1, 0x80, 0x8f);
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

/// `text` as character data or as an attribute's value. Line ends and tabs are references, which no parser
/// normalises.
std::string escaped(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (length == 0) {
      xml += "\xef\xbf\xbd";
    } else if (character == "&") {
      xml += "&amp;";
    } else if (character == "<") {
      xml += "&lt;";
    } else if (character == ">") {
      xml += "&gt;";
    } else if (character == "\"") {
      xml += "&quot;";
    } else if (character == "\n" || character == "\t" || character == "\r") {
      xml += fmt::format("&#{};", static_cast<int>(character[0]));
    } else if (static_cast<unsigned char>(character[0]) >= 0x20 && character != "\xef\xbf\xbe" &&
               character != "\xef\xbf\xbf") {
      xml += character;
    }
  }
  return xml;
}

std::string message_of(const VerdictRecord& record) {
  if (!record.reason.empty()) return record.reason;
  if (!record.measure.witness) return std::string(to_string(record.verdict));
  return fmt::format("worst {:.9g} {}, bound {:.9g}", record.measure.worst, record.measure.unit,
                     record.measure.bound);
}

std::string details_of(const VerdictRecord& record) {
  std::string text = fmt::format("{} on {}", record.law, record.encoding.value_or("no encoding"));
  if (record.measure.witness)
    text += fmt::format("\nworst {:.9g} {}, bound {:.9g}", record.measure.worst, record.measure.unit,
                        record.measure.bound);
  if (record.witness)
    text += fmt::format("\nposition {}, pair {}, {}: got {:.9g}, want {:.17g}", record.witness->position,
                        record.witness->pair, record.witness->function, record.witness->got,
                        record.witness->want);
  if (!record.replay.empty()) text += fmt::format("\nsextant replay '{}'", record.replay);
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
      fmt::format("<testcase classname=\"{}\" name=\"{}\"", escaped(class_name), escaped(name));
  if (tag.empty()) return fmt::format("{}/>\n", head);
  return fmt::format("{0}><{1} type=\"{2}\" message=\"{3}\">{4}</{1}></testcase>\n", head, tag, type,
                     escaped(message), escaped(details));
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
    xml +=
        test_case(fmt::format("{}.{}", record.kernel, record.law),
                  fmt::format("{}/{}/{}", about, to_string(record.operation), to_string(record.dtype)),
                  tag_of(record.verdict), to_string(record.verdict), message_of(record), details_of(record));
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace sextant
