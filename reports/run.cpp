// Writing the run document.
#include "sextant/reports/run.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json witness_of(const std::optional<Witness>& witness) {
  if (!witness) return nullptr;
  return {{"position", witness->position},
          {"pair", witness->pair},
          {"function", witness->function},
          {"got", number(witness->got)},
          {"want", number(witness->want)}};
}

ordered_json verdict_of(const VerdictRecord& record) {
  const bool measured = record.measure.witness.has_value();
  return {
      {"law", record.law},
      {"kernel", record.kernel},
      {"model", or_null(record.model)},
      {"encoding", or_null(record.encoding)},
      {"operation", to_string(record.operation)},
      {"dtype", to_string(record.dtype)},
      {"contract", record.contract},
      {"verdict", to_string(record.verdict)},
      {"reason", record.reason.empty() ? ordered_json(nullptr) : ordered_json(record.reason)},
      {"measure", record.measure.unit.empty() ? ordered_json(nullptr) : ordered_json(record.measure.unit)},
      {"worst", measured ? number(record.measure.worst) : ordered_json(nullptr)},
      {"bound", measured ? number(record.measure.bound) : ordered_json(nullptr)},
      {"witness", witness_of(record.witness)},
      {"cases", record.cases},
      {"elements", record.measure.elements},
      {"no_claim", record.measure.no_claim},
      {"diagnosis", nullptr},
      {"replay", record.replay.empty() ? ordered_json(nullptr) : ordered_json(record.replay)}};
}

ordered_json drift_of(const DriftRecord& drift) {
  ordered_json octaves = ordered_json::array();
  for (const DriftRecord::Octave& octave : drift.by_octave) {
    octaves.push_back({{"first", octave.first},
                       {"position", octave.position},
                       {"pair", octave.pair},
                       {"max_abs", number(octave.max_abs)}});
  }
  return {{"kernel", drift.kernel},         {"model", or_null(drift.model)},
          {"encoding", drift.encoding},     {"context", drift.context},
          {"positions", drift.positions},   {"leaves_exact_angle", or_null(drift.leaves_exact_angle)},
          {"by_octave", std::move(octaves)}};
}

}  // namespace

std::vector<std::pair<Verdict, std::size_t>> summary_of(const Run& run) {
  std::vector<std::pair<Verdict, std::size_t>> counts;
  for (const Verdict verdict : {Verdict::fail, Verdict::crashed, Verdict::mistrusted, Verdict::undecided,
                                Verdict::pass, Verdict::unavailable, Verdict::unsupported}) {
    std::size_t count = 0;
    for (const VerdictRecord& record : run.result.verdicts) count += record.verdict == verdict;
    counts.emplace_back(verdict, count);
  }
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

std::string to_json(const Run& run) {
  ordered_json summary = ordered_json::object();
  for (const auto& [verdict, count] : summary_of(run)) summary[std::string(to_string(verdict))] = count;
  ordered_json verdicts = ordered_json::array();
  for (const VerdictRecord& record : run.result.verdicts) verdicts.push_back(verdict_of(record));
  ordered_json drift = ordered_json::array();
  for (const DriftRecord& record : run.result.drift) drift.push_back(drift_of(record));
  ordered_json not_supported = ordered_json::array();
  for (const UnsupportedModel& model : run.not_supported) {
    not_supported.push_back({{"model", model.model}, {"reason", model.reason}});
  }
  const ordered_json document = {
      {"schema_version", 1},
      {"tool", {{"name", "sextant"}, {"version", kVersion}}},
      {"environment",
       {{"host", run.environment.host},
        {"system", run.environment.system},
        {"compiler", run.environment.compiler},
        {"libm_fingerprint", run.environment.libm_fingerprint},
        {"targets", run.environment.targets},
        {"seconds", run.seconds}}},
      {"seed", run.seed},
      {"summary", std::move(summary)},
      {"coverage",
       {{"models", run.models},
        {"cases", run.result.cases},
        {"positions", run.result.positions},
        {"elements", run.result.elements},
        {"no_claim", run.result.no_claim},
        {"audit", {{"points", run.result.audit.points}, {"kept", run.result.audit.kept()}}},
        {"not_supported", std::move(not_supported)}}},
      {"verdicts", std::move(verdicts)},
      {"drift", std::move(drift)},
  };
  return document.dump(1) + "\n";
}

}  // namespace sextant
