// A certified sweep: every position and pair of a kernel's tables or rotation, or of a table in a file,
// against the oracle.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sextant/fixtures/foreign/table_file.hpp"
#include "sextant/fixtures/kernel.hpp"
#include "sextant/props/contract.hpp"
#include "sextant/reference/oracle/tally.hpp"

namespace sextant {

/// Which exact value is judged: the mathematical one; the exact value for the float32 frequencies (and
/// factor) or for the angles that the kernel stores; the exact rotation by the cos and sin that
/// rotate_with_tables was given.
enum class Truth { exact, frequency, angle, table };
[[nodiscard]] std::string_view to_string(Truth truth);

/// A place in a sweep; the order of ties.
struct Place {
  std::int64_t position = 0;
  std::int64_t pair = 0;
  Function function = Function::cos;
  auto operator<=>(const Place&) const = default;
};

struct SweepSubject {
  Rope rope;
  std::int64_t seq_len = 1;
  const Kernel* kernel = nullptr;    ///< its tables or its rotation
  const TableFile* table = nullptr;  ///< or a file, whose first row is position `begin` of the whole sweep
  std::int64_t table_begin = 0;
  Operation operation = Operation::tables;
  Truth truth = Truth::exact;
  bool bare = false;                 ///< judged without the attention factor
  std::optional<Contract> contract;  ///< also judged element by element
  /// In place of the rope: the rows of a kernel's `encode`, pair k being the row's k-th frequency; exact
  /// truth alone.
  std::optional<Sinusoidal> sinusoid{};
  /// In place of the rope: a kernel's biases of ALiBi, pair k being head k, or its buckets of T5, DeBERTa or
  /// Shaw; positions are distances (sweep_distances.cpp); exact truth alone.
  std::optional<Encoding> by_distance{};

  [[nodiscard]] std::int64_t pairs() const;
};
/// Points of a position in a sweep of this encoding, and values of a position that it counts (a duplicated
/// table has twice as many). Throws InputError for schemes that are not swept.
[[nodiscard]] std::int64_t sweep_pairs(const Encoding& encoding);
[[nodiscard]] std::int64_t sweep_values(const Encoding& encoding);
/// Whether the encoding is swept by distance.
[[nodiscard]] bool is_by_distance(const Encoding& encoding);

/// What a sweep has seen; a monoid like the tally it holds.
struct SweepTally {
  Tally tally;  ///< of tables in ulp; of a rotation in pair_ulp
  /// Largest |angle error| / w_k of the entries taken as a vector, in positions, and where; no zero
  /// frequencies.
  double position_error = 0;
  std::optional<Place> position_error_at;
  std::int64_t no_claim = 0;
  std::optional<Place> first_no_claim;
  std::int64_t broken = 0;  ///< elements beyond the contract's bound
  std::optional<Place> first_broken;

  SweepTally& operator+=(const SweepTally& other);
};

/// Sweeps positions [begin, end) on `threads` threads in blocks, memory constant. `progress(done)` is called
/// from this thread.
[[nodiscard]] SweepTally sweep(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads,
                               const std::function<void(std::int64_t)>& progress);

/// The input head of rotations in sweeps and grades: channel c of a position, in (-1, 1), never 0.
[[nodiscard]] float rotation_input(std::int64_t position, std::int64_t channel);

/// The part of [begin, end) that shard `index` of `count` sweeps: contiguous, in order, sizes differing by at
/// most one.
struct Range {
  std::int64_t begin, end;
  bool operator==(const Range&) const = default;
};
[[nodiscard]] Range shard_of(std::int64_t begin, std::int64_t end, std::int64_t index, std::int64_t count);
/// Throws InputError where a sweep by distance does not reach a range.
void check_distances(const Encoding& encoding, const Range& range);

}  // namespace sextant
