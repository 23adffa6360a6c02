// Writing, reading and merging run documents.
#include "sextant/reports/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/fixtures/models/fields.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/input.hpp"

namespace sextant {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kSchemaVersion = 2;
constexpr std::size_t kLongText = 32;  // longer encodings stand once, in `encodings`
constexpr auto kVerdicts = {Verdict::fail, Verdict::crashed,     Verdict::mistrusted, Verdict::undecided,
                            Verdict::pass, Verdict::unavailable, Verdict::unsupported};

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json count_or_null(std::int64_t count) {
  return count == 0 ? ordered_json(nullptr) : ordered_json(count);
}

/// What is null is left out: most of a document would be such.
ordered_json without_nulls(std::initializer_list<std::pair<const char*, ordered_json>> entries) {
  ordered_json object = ordered_json::object();
  for (const auto& [key, value] : entries) {
    if (!value.is_null()) object[key] = value;
  }
  return object;
}

/// The encodings of a document by their place in its list.
class Encodings {
 public:
  ordered_json name(const std::optional<std::string>& text) {
    if (!text || text->size() <= kLongText) return or_null(text);
    const auto [at, is_new] = places_.emplace(*text, list_.size());
    if (is_new) list_.push_back(*text);
    return fmt::format("@{}", at->second);
  }
  [[nodiscard]] const ordered_json& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_;
  ordered_json list_ = ordered_json::array();
};

ordered_json witness_of(const std::optional<Witness>& witness) {
  if (!witness) return nullptr;
  return {{"position", witness->position},
          {"pair", witness->pair},
          {"function", witness->function},
          {"got", number(witness->got)},
          {"want", number(witness->want)}};
}

/// An error of 0 needs no witness.
ordered_json verdict_of(const VerdictRecord& record, Encodings& encodings) {
  const Measure& measure = record.measure;
  const bool measured = measure.witness.has_value();
  const bool bad = record.verdict < Verdict::pass;
  return without_nulls(
      {{"law", record.law},
       {"kernel", record.kernel},
       {"model", or_null(record.model)},
       {"encoding", encodings.name(record.encoding)},
       {"operation", to_string(record.operation)},
       {"dtype", to_string(record.dtype)},
       {"contract", record.contract},
       {"verdict", to_string(record.verdict)},
       {"reason", text_or_null(record.reason)},
       {"measure", text_or_null(measure.unit)},
       {"worst", measured ? number(measure.worst) : ordered_json(nullptr)},
       {"bound", measured ? number(measure.bound) : ordered_json(nullptr)},
       {"witness", bad || measure.worst > 0 ? witness_of(record.witness) : ordered_json(nullptr)},
       {"cases", record.cases},
       {"elements", count_or_null(measure.elements)},
       {"no_claim", count_or_null(measure.no_claim)},
       {"replay", text_or_null(record.replay)}});
}

/// Blocks are for pictures: rounded to three digits.
ordered_json drift_of(const DriftRecord& drift, Encodings& encodings) {
  ordered_json octaves = ordered_json::array();
  for (const DriftRecord::Octave& octave : drift.by_octave) {
    ordered_json blocks = ordered_json::array();
    for (const double block : octave.blocks)
      blocks.push_back(std::isfinite(block) ? number(std::stod(fmt::format("{:.2e}", block)))
                                            : number(block));
    octaves.push_back({{"first", octave.first},
                       {"position", octave.position},
                       {"pair", octave.pair},
                       {"max_abs", number(octave.max_abs)},
                       {"blocks", std::move(blocks)}});
  }
  return without_nulls({{"kernel", drift.kernel},
                        {"model", or_null(drift.model)},
                        {"encoding", encodings.name(drift.encoding)},
                        {"context", drift.context},
                        {"positions", drift.positions},
                        {"leaves_exact_angle", or_null(drift.leaves_exact_angle)},
                        {"mean_ulp", number(mean_ulp(drift))},
                        {"sum_ulp_2_16", hex_of(drift.sum)},
                        {"ulp_histogram", drift.ulp_histogram},
                        {"by_octave", std::move(octaves)}});
}

std::string dump(const ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

/// ", "key": [..]" with a line for each entry.
template <class Records, class Write>
void add_lines(const char* key, const Records& records, const Write& write, std::string& text) {
  text += fmt::format(",\n \"{}\": [", key);
  bool first = true;
  for (const auto& record : records) {
    text += first ? "\n  " : ",\n  ";
    text += dump(write(record));
    first = false;
  }
  text += first ? "]" : "\n ]";
}

// ---- reading ----

/// A misspelt key must not read as one that was left out.
void refuse_unknown_keys(const json& object, const std::set<std::string_view>& known,
                         const std::string& file) {
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) refuse(file, fmt::format("the key {} is unknown", shown_text(key)));
  }
}

/// Null where the key is absent or its value is null.
const json* given(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> optional_text(const json& object, const char* key, const std::string& file) {
  if (!given(object, key)) return std::nullopt;
  return text_at(object, key, file);
}

std::int64_t count_at(const json& object, const char* key, const std::string& file) {
  const auto count = integer_at<std::int64_t>(object, key, file);
  if (count < 0) refuse(file, fmt::format("{} is negative", key));
  return count;
}

std::int64_t count_or_0(const json& object, const char* key, const std::string& file) {
  return given(object, key) ? count_at(object, key, file) : 0;
}

/// A measure of error.
double error_at(const json& object, const char* key, const std::string& file) {
  const double error = number_at(object, key, file);
  if (!(error >= 0)) refuse(file, fmt::format("{} is negative or no number", key));
  return error;
}

/// "@N" becomes entry N of `encodings`.
void resolve(std::string& name, const json& encodings, const std::string& file) {
  if (!name.starts_with('@')) return;
  const std::string digits = name.substr(1);
  const bool whole =
      !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t place = whole ? std::stoul(digits) : encodings.size();
  if (place >= encodings.size() || !encodings[place].is_string())
    refuse(file, fmt::format("encoding {} is not in encodings", shown_text(name)));
  name = encodings[place].get<std::string>();
}

std::optional<Witness> witness_in(const json* object, const std::string& file) {
  if (!object) return std::nullopt;
  return Witness{integer_at<std::int64_t>(*object, "position", file),
                 integer_at<std::int64_t>(*object, "pair", file), text_at(*object, "function", file),
                 number_at(*object, "got", file), number_at(*object, "want", file)};
}

/// Its encoding may still be "@N".
VerdictRecord verdict_in(const json& object, const std::string& file) {
  static const std::set<std::string_view> known = {
      "law",   "kernel", "model",   "encoding", "operation", "dtype",    "contract",  "verdict", "reason",
      "worst", "bound",  "witness", "cases",    "elements",  "no_claim", "diagnosis", "replay",  "measure"};
  refuse_unknown_keys(object, known, file);
  VerdictRecord record;
  record.law = text_at(object, "law", file);
  record.kernel = text_at(object, "kernel", file);
  record.model = optional_text(object, "model", file);
  record.encoding = optional_text(object, "encoding", file);
  const std::optional<Operation> operation = parse_operation(text_at(object, "operation", file));
  if (!operation) refuse(file, "an operation is unknown");
  record.operation = *operation;
  const std::optional<DType> dtype = parse_dtype(text_at(object, "dtype", file));
  if (!dtype) refuse(file, "a dtype is unknown");
  record.dtype = *dtype;
  record.contract = text_at(object, "contract", file);
  const std::string name = text_at(object, "verdict", file);
  const auto verdict = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                    [&](Verdict value) { return to_string(value) == name; });
  if (verdict == kVerdicts.end()) refuse(file, fmt::format("verdict {} is unknown", shown_text(name)));
  record.verdict = *verdict;
  record.reason = optional_text(object, "reason", file).value_or("");
  record.measure.unit = optional_text(object, "measure", file).value_or("");
  static const std::set<std::string_view> units = {"", "pair_ulp", "ulp", "abs", "count"};
  if (!units.contains(record.measure.unit))
    refuse(file, fmt::format("measure {} is unknown", shown_text(record.measure.unit)));
  record.witness = witness_in(given(object, "witness"), file);
  if (given(object, "worst")) {
    record.measure.worst = error_at(object, "worst", file);
    record.measure.bound = error_at(object, "bound", file);
    if (std::isinf(record.measure.bound)) refuse(file, "bound is infinite");
    record.measure.witness = record.witness.value_or(Witness{});
  }
  record.cases = count_at(object, "cases", file);
  record.measure.elements = count_or_0(object, "elements", file);
  record.measure.no_claim = count_or_0(object, "no_claim", file);
  record.replay = optional_text(object, "replay", file).value_or("");
  return record;
}

/// Its encoding may still be "@N".
DriftRecord drift_in(const json& object, const std::string& file) {
  static const std::set<std::string_view> known = {
      "kernel",   "model",        "encoding",      "context",  "positions", "leaves_exact_angle",
      "mean_ulp", "sum_ulp_2_16", "ulp_histogram", "by_octave"};
  refuse_unknown_keys(object, known, file);
  DriftRecord drift;
  drift.kernel = text_at(object, "kernel", file);
  drift.model = optional_text(object, "model", file);
  drift.encoding = optional_text(object, "encoding", file).value_or("");
  drift.context = count_at(object, "context", file);
  drift.positions = count_at(object, "positions", file);
  if (given(object, "leaves_exact_angle"))
    drift.leaves_exact_angle = integer_at<std::int64_t>(object, "leaves_exact_angle", file);
  hex_at(object, "sum_ulp_2_16", file, drift.sum.high, drift.sum.low);
  for (const json& bin : list_at(object, "ulp_histogram", file)) {
    if (!bin.is_number_unsigned()) refuse(file, "ulp_histogram holds no counts");
    drift.ulp_histogram.push_back(bin.get<std::uint64_t>());
  }
  if (drift.ulp_histogram.size() != DriftRecord::kBins) refuse(file, "ulp_histogram has other bins");
  for (const json& entry : list_at(object, "by_octave", file)) {
    DriftRecord::Octave octave{count_at(entry, "first", file),
                               count_at(entry, "position", file),
                               count_at(entry, "pair", file),
                               error_at(entry, "max_abs", file),
                               {}};
    for (const json& block : list_at(entry, "blocks", file))
      octave.blocks.push_back(error_at({{"blocks", block}}, "blocks", file));
    if (octave.blocks.size() > DriftRecord::kBlocks) refuse(file, "blocks are too many");
    if (!drift.by_octave.empty() && (octave.first <= drift.by_octave.back().first ||
                                     octave.blocks.size() != drift.by_octave.back().blocks.size()))
      refuse(file, "by_octave is out of order, or has octaves of other blocks");
    drift.by_octave.push_back(std::move(octave));
  }
  return drift;
}

/// Verdicts and drift as they are read, so that a document never stands in memory twice.
class Records {
 public:
  Records(const std::string& file, SuiteResult& result) : file_(file), result_(result) {}

  bool take(const std::string& list, const json& record) {
    if (list != "verdicts" && list != "drift") return false;
    if (refused_) return true;
    try {
      if (list == "verdicts")
        result_.verdicts.push_back(verdict_in(record, file_));
      else
        result_.drift.push_back(drift_in(record, file_));
    } catch (const InputError&) {
      refused_ = std::current_exception();
    }
    return true;
  }

  /// Throws what was wrong with the first bad record: asked for once the document is known to be a run.
  void finish(const json& document) {
    if (refused_) std::rethrow_exception(refused_);
    for (const char* list : {"verdicts", "drift"}) {
      if (!list_at(document, list, file_).empty())
        refuse(file_, fmt::format("{} holds what is no object", list));
    }
    const json& encodings = list_at(document, "encodings", file_);
    for (VerdictRecord& record : result_.verdicts) {
      if (record.encoding) resolve(*record.encoding, encodings, file_);
    }
    std::set<std::string> parsed;
    for (DriftRecord& drift : result_.drift) {
      resolve(drift.encoding, encodings, file_);
      if (!parsed.insert(drift.encoding).second) continue;
      try {
        (void)parse_encoding(drift.encoding);
      } catch (const InputError& error) {
        refuse(file_, fmt::format("drift is of no encoding: {}", error.what()));
      }
    }
  }

 private:
  const std::string& file_;
  SuiteResult& result_;
  std::exception_ptr refused_;
};

}  // namespace

double mean_ulp(const DriftRecord& drift) {
  std::uint64_t entries = 0;
  for (const std::uint64_t bin : drift.ulp_histogram) entries += bin;
  return entries == 0 ? 0 : drift.sum.ulp() / static_cast<double>(entries);
}

std::vector<std::pair<Verdict, std::size_t>> summary_of(const Run& run) {
  std::vector<std::pair<Verdict, std::size_t>> counts;
  for (const Verdict verdict : kVerdicts) counts.emplace_back(verdict, 0);
  for (const VerdictRecord& record : run.result.verdicts)
    ++counts[static_cast<std::size_t>(record.verdict)].second;
  return counts;
}

int exit_status(const Run& run) {
  if (!run.result.audit.kept() || !run.missing.empty()) return 1;
  bool passed = false;
  for (const auto& [verdict, count] : summary_of(run)) {
    if (count == 0) continue;
    if (verdict < Verdict::pass) return 1;
    passed = passed || verdict == Verdict::pass;
  }
  return passed ? 0 : 3;
}

std::string subject_of(const VerdictRecord& record) {
  return record.model.value_or(record.encoding.value_or("any encoding"));
}

std::string to_json(const Run& run) {
  ordered_json summary = ordered_json::object();
  for (const auto& [verdict, count] : summary_of(run)) summary[std::string(to_string(verdict))] = count;
  ordered_json not_supported = ordered_json::array(), missing = ordered_json::array();
  for (const UnsupportedModel& model : run.not_supported)
    not_supported.push_back({{"model", model.model}, {"reason", model.reason}});
  for (const MissingKernel& kernel : run.missing)
    missing.push_back({{"kernel", kernel.kernel}, {"reason", kernel.reason}});
  const ordered_json head = {
      {"schema_version", kSchemaVersion},
      {"document", "run"},
      {"tool", {{"name", "sextant"}, {"version", run.version}}},
      {"environment",
       {{"time", run.environment.time},
        {"host", run.environment.host},
        {"system", run.environment.system},
        {"compiler", run.environment.compiler},
        {"libm_fingerprint", run.environment.libm_fingerprint},
        {"targets", run.environment.targets},
        {"seconds", run.seconds}}},
      {"seed", run.seed},
      {"arguments", run.arguments},
      {"summary", std::move(summary)},
      {"coverage",
       {{"models", run.models},
        {"cases", run.result.cases},
        {"positions", run.result.positions},
        {"elements", run.result.elements},
        {"no_claim", run.result.no_claim},
        {"audit", {{"points", run.result.audit.points}, {"kept", run.result.audit.kept()}}},
        {"not_supported", std::move(not_supported)}}},
      {"missing", std::move(missing)},
  };
  Encodings encodings;
  std::string text = dump(head, 1);
  text.resize(text.size() - 2);  // the line end and brace that close it
  add_lines(
      "allowances", run.allowances,
      [](const Allowance& allowance) -> ordered_json {
        return {{"kernel", allowance.kernel},
                {"law", allowance.law},
                {"relative", allowance.relative},
                {"reason", allowance.reason}};
      },
      text);
  add_lines(
      "verdicts", run.result.verdicts,
      [&](const VerdictRecord& record) { return verdict_of(record, encodings); }, text);
  add_lines(
      "drift", run.result.drift, [&](const DriftRecord& drift) { return drift_of(drift, encodings); }, text);
  add_lines(
      "encodings", encodings.list(), [](const ordered_json& encoding) { return encoding; }, text);
  return text + "\n}\n";
}

Run parse_run(std::string_view text, const std::string& file) {
  Run run;
  Records records(file, run.result);
  const json document = parse_document(
      text, file, [&](const std::string& list, const json& record) { return records.take(list, record); });
  const json* tool = document.is_object() && document.contains("tool") ? &document.at("tool") : nullptr;
  if (!tool || !tool->is_object() || tool->value("name", json()) != "sextant")
    throw InputError(fmt::format("{}: is no run document; sextant verify --json FILE makes one", file));
  if (document.value("schema_version", json()) != kSchemaVersion ||
      document.value("document", json()) != "run")
    throw InputError(
        fmt::format("{}: is of schema version {}, this sextant reads {}; make it anew with "
                    "sextant verify --json FILE",
                    file, shown(document.value("schema_version", json())), kSchemaVersion));
  records.finish(document);
  run.version = text_at(at(document, "tool", file), "version", file);
  const json& environment = at(document, "environment", file);
  run.environment.time = text_at(environment, "time", file);
  run.environment.host = text_at(environment, "host", file);
  run.environment.system = text_at(environment, "system", file);
  run.environment.compiler = text_at(environment, "compiler", file);
  run.environment.libm_fingerprint = text_at(environment, "libm_fingerprint", file);
  for (const json& target : list_at(environment, "targets", file)) {
    if (!target.is_string()) refuse(file, "a target is no text");
    run.environment.targets.push_back(target.get<std::string>());
  }
  run.seconds = number_at(environment, "seconds", file);
  run.seed = integer_at<std::uint64_t>(document, "seed", file);
  run.arguments = text_at(document, "arguments", file);
  // They become part of commands that people paste.
  if (run.arguments.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:=()'_-") != std::string::npos)
    refuse(file, "arguments holds what no option has");
  const json& coverage = at(document, "coverage", file);
  run.models = integer_at<std::uint64_t>(coverage, "models", file);
  run.result.cases = count_at(coverage, "cases", file);
  run.result.positions = count_at(coverage, "positions", file);
  run.result.elements = count_at(coverage, "elements", file);
  run.result.no_claim = count_at(coverage, "no_claim", file);
  const json& audit = at(coverage, "audit", file);
  run.result.audit.points = integer_at<std::uint64_t>(audit, "points", file);
  run.result.audit.worst_share = flag_at(audit, "kept", file) ? 0 : 2;
  for (const json& entry : list_at(coverage, "not_supported", file))
    run.not_supported.push_back({text_at(entry, "model", file), text_at(entry, "reason", file)});
  for (const json& entry : list_at(document, "missing", file))
    run.missing.push_back({text_at(entry, "kernel", file), text_at(entry, "reason", file)});
  for (const json& entry : list_at(document, "allowances", file)) {
    run.allowances.push_back({text_at(entry, "kernel", file), text_at(entry, "law", file),
                              number_at(entry, "relative", file), text_at(entry, "reason", file)});
    if (!(run.allowances.back().relative >= 0)) refuse(file, "an allowance is negative or no number");
  }
  const json& summary = at(document, "summary", file);
  for (const auto& [verdict, count] : summary_of(run)) {
    const std::string name(to_string(verdict));
    if (integer_at<std::uint64_t>(summary, name.c_str(), file) != count)
      refuse(file, fmt::format("summary.{} is not the count of such verdicts", name));
  }
  return run;
}

namespace {

using VerdictKey = std::tuple<std::string, std::string, std::string, Operation, DType>;

VerdictKey key_of(const VerdictRecord& record) {
  return {record.kernel, record.law, subject_of(record), record.operation, record.dtype};
}

/// What is unavailable on one machine yields to what another made of it; of several that are, one is kept.
void yield_unavailable(std::vector<Run>& runs) {
  std::set<VerdictKey> settled;
  std::set<std::string> kernels;
  for (const Run& run : runs) {
    for (const VerdictRecord& record : run.result.verdicts) {
      if (record.verdict == Verdict::unavailable) continue;
      settled.insert(key_of(record));
      kernels.insert(record.kernel);
    }
  }
  for (Run& run : runs) {
    std::erase_if(run.result.verdicts, [&](const VerdictRecord& record) {
      return record.verdict == Verdict::unavailable && !settled.insert(key_of(record)).second;
    });
    std::erase_if(run.missing,
                  [&](const MissingKernel& missing) { return !kernels.insert(missing.kernel).second; });
  }
}

}  // namespace

Run merge_runs(std::vector<Run> runs, const std::vector<std::string>& files) {
  std::set<VerdictKey> seen;
  std::map<std::pair<std::string, std::string>, std::string> seen_drift;  // what it was
  std::set<std::string> models, fingerprints, hosts;
  Run whole = runs.front();
  whole.result = {};
  whole.missing.clear();
  whole.allowances.clear();
  whole.seconds = 0;
  yield_unavailable(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run& run = runs[i];
    if (run.seed != whole.seed || run.arguments != whole.arguments || run.version != whole.version)
      throw InputError(fmt::format("{} and {} do not belong together: seed, options and version must agree",
                                   files[0], files[i]));
    for (const VerdictRecord& record : run.result.verdicts) {
      if (!seen.insert(key_of(record)).second)
        throw InputError(
            fmt::format("{}: {} on {}, {}, stands in an earlier document too; merge parts of one "
                        "run, each of other kernels, models or laws",
                        files[i], record.law, record.kernel, subject_of(record)));
      if (record.model)
        models.insert(record.model->substr(0, record.model->find('#')));
      else if (record.encoding)
        models.insert(*record.encoding);
    }
    // Parts of other laws measure the same tables again.
    std::erase_if(run.result.drift, [&](const DriftRecord& drift) {
      Encodings encodings;
      const std::string is = dump(drift_of(drift, encodings)) + drift.encoding;
      const std::string of = drift.model.value_or(drift.encoding);
      const auto [at, is_new] = seen_drift.try_emplace({drift.kernel, of}, is);
      if (at->second != is)
        throw InputError(
            fmt::format("{}: the tables of {} on {} are not those of an earlier document: they come of "
                        "other machines, whose runs do not belong together",
                        files[i], drift.kernel, of));
      return !is_new;
    });
    fingerprints.insert(run.environment.libm_fingerprint);
    hosts.insert(run.environment.host);
    for (const std::string& target : run.environment.targets) {
      auto& targets = whole.environment.targets;
      if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
    }
    for (const auto& model : run.not_supported) {
      const auto at = std::find(whole.not_supported.begin(), whole.not_supported.end(), model);
      if (at == whole.not_supported.end()) whole.not_supported.push_back(model);
    }
    whole.missing.insert(whole.missing.end(), run.missing.begin(), run.missing.end());
    whole.allowances.insert(whole.allowances.end(), run.allowances.begin(), run.allowances.end());
    whole.seconds += run.seconds;
    whole.environment.time = std::max(whole.environment.time, run.environment.time);
    whole.result += std::move(run.result);
  }
  whole.models = models.size();
  whole.environment.host = fmt::format("{}", fmt::join(hosts, "+"));
  whole.environment.libm_fingerprint = fmt::format("{}", fmt::join(fingerprints, "+"));
  return whole;
}

}  // namespace sextant
