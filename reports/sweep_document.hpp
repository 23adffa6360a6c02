// The document of a sweep: JSON from which shards merge to the bytes of one run.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/props/sweep.hpp"
#include "sextant/props/worst_case.hpp"
#include "sextant/reference/oracle/audit.hpp"

namespace sextant {

struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
  bool operator==(const Shard&) const = default;
};

struct SweepDocument {
  std::string encoding;
  std::string kernel;  ///< or
  std::string table;   ///< the path of a file
  std::string operation, truth, dtype;
  bool bare = false;
  std::int64_t seq_len = 1;
  Range positions{};  ///< of the whole sweep
  std::optional<Shard> shard;
  std::optional<std::string> contract;
  SweepTally result;
  std::optional<WorstCase> worst_case;  ///< of a rotation, where it was searched
  Audit audit;
  double seconds = 0;
  int threads = 1;
};

/// Keys in a fixed order; `points_per_second` and `threads` come last and are null in a merged document: they
/// alone tell a merged document from one run's.
[[nodiscard]] std::string to_json(const SweepDocument& document);
/// Throws InputError naming `file`.
[[nodiscard]] SweepDocument parse_sweep(std::string_view text, const std::string& file);

/// Joins the shards of one sweep. Throws InputError where they do not belong together, overlap or leave a
/// gap.
[[nodiscard]] SweepDocument merge_sweeps(std::vector<SweepDocument> shards,
                                         const std::vector<std::string>& files);

/// 1 where something is undecided, NaN, beyond the contract, or the audit failed; else 0.
[[nodiscard]] int exit_status(const SweepDocument& document);

/// A screen of text: maxima, means, worst witness, a line per octave.
[[nodiscard]] std::string to_text(const SweepDocument& document);

}  // namespace sextant
