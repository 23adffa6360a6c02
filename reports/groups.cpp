// Grouping of verdicts.
#include "sextant/reports/groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sextant {

std::vector<const VerdictRecord*> failures_of(const Run& run) {
  std::vector<const VerdictRecord*> failures;
  for (const VerdictRecord& record : run.result.verdicts) {
    if (record.verdict < Verdict::pass) failures.push_back(&record);
  }
  std::stable_sort(failures.begin(), failures.end(), [](const VerdictRecord* a, const VerdictRecord* b) {
    return a->verdict != b->verdict ? a->verdict < b->verdict : a->measure.share() > b->measure.share();
  });
  std::set<std::tuple<std::string, std::string, Operation>> seen;
  std::vector<const VerdictRecord*> first, rest;
  for (const VerdictRecord* record : failures) {
    const bool is_first = seen.emplace(record->kernel, record->law, record->operation).second;
    (is_first ? first : rest).push_back(record);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::vector<KernelSummary> kernels_of(const Run& run) {
  std::map<std::string, KernelSummary> kernels;
  for (const VerdictRecord& record : run.result.verdicts) {
    KernelSummary& kernel = kernels[record.kernel];
    if (record.verdict > Verdict::pass) {
      if (kernel.neutral++ == 0) kernel.idle = &record;
      continue;
    }
    ++kernel.judged;
    kernel.passed += record.verdict == Verdict::pass;
    if (!record.measure.witness) continue;
    if (!kernel.worst || record.measure.share() > kernel.worst->measure.share()) kernel.worst = &record;
  }
  for (const DriftRecord& drift : run.result.drift) {
    KernelSummary& kernel = kernels[drift.kernel];
    ++kernel.encodings;
    kernel.kept += !drift.leaves_exact_angle;
    for (const DriftRecord::Octave& octave : drift.by_octave) {
      if (kernel.drift && octave.max_abs <= kernel.drift_error) continue;
      kernel.drift = &drift;
      kernel.drift_error = octave.max_abs;
    }
  }
  std::vector<KernelSummary> list;
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    list.push_back(std::move(kernel));
  }
  std::stable_partition(list.begin(), list.end(),
                        [](const KernelSummary& kernel) { return kernel.passed < kernel.judged; });
  return list;
}

std::vector<LawSummary> laws_of(const Run& run) {
  std::map<std::tuple<std::string, std::string, Operation, DType>, LawSummary> laws;
  for (const VerdictRecord& record : run.result.verdicts) {
    const auto [at, is_new] = laws.try_emplace({record.kernel, record.law, record.operation, record.dtype});
    LawSummary& law = at->second;
    ++law.count;
    law.passed += record.verdict == Verdict::pass;
    const bool worse = is_new || record.verdict < law.verdict ||
                       (record.verdict == law.verdict && record.measure.share() > law.worst->measure.share());
    if (!worse) continue;
    law.verdict = record.verdict;
    law.worst = &record;
  }
  std::vector<LawSummary> list;
  for (auto& [key, law] : laws) {
    std::tie(law.kernel, law.law, law.operation, law.dtype) = key;
    list.push_back(std::move(law));
  }
  return list;
}

}  // namespace sextant
