// The suite: encodings, then cases, then truth once, then all kernels; verdicts with measures, witnesses and
// replays.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/props/law.hpp"
#include "sextant/reference/oracle/audit.hpp"
#include "sextant/reference/oracle/tally.hpp"

namespace sextant {

/// One encoding to verify, under the name of the model that declares it.
struct Subject {
  std::optional<std::string> model;
  Encoding encoding;
  std::int64_t context = 4096;
};

/// Extents in place of drawn ones; a law that needs more is unsupported.
struct Shape {
  std::int64_t batch = 1, tokens = 1, heads = 1;
};

struct SuiteOptions {
  std::vector<Kernel> kernels;
  std::vector<Subject> subjects;
  std::vector<Law> laws;
  std::optional<Contract> contract;  ///< in place of the claimed ones
  int cases = 8;                     ///< per law and encoding
  std::uint64_t seed = 1;
  /// In place of drawn ones, for laws that can do with these; not fitted to what a kernel can do.
  std::vector<std::int64_t> positions;
  std::optional<Shape> shape;
  std::optional<Layout> layout;  ///< the only one to call kernels in
  /// Only these, each of them also where a kernel does not offer it; none: what each kernel offers.
  std::vector<DType> dtypes;
  bool drift = true;  ///< measure the drift of tables over positions too
  int threads = 0;    ///< 0: one for each core
  /// Called before each subject, by one thread at a time: done, total, name.
  std::function<void(std::size_t, std::size_t, const std::string&)> progress;
};

/// The verdict of one law on one kernel, operation and encoding. worst and bound are those of the element
/// with the largest error / bound over all cases; where the law failed, witness and replay are of the shrunk
/// counterexample.
struct VerdictRecord {
  std::string law;
  std::string kernel;
  std::optional<std::string> model;
  std::optional<std::string> encoding;
  Operation operation = Operation::rotate;
  DType dtype = DType::f32;
  std::string contract;
  Verdict verdict = Verdict::unsupported;
  Measure measure;
  std::optional<Witness> witness;
  std::int64_t cases = 0;
  std::string reason;
  std::string replay;
};

/// How a kernel's tables leave the truth as positions grow, whatever it claims.
struct DriftRecord {
  std::string kernel;
  std::optional<std::string> model;
  std::string encoding;
  std::int64_t context = 0;
  /// The first position tried whose table breaks exact-angle; none: it kept it at every position tried.
  std::optional<std::int64_t> leaves_exact_angle;
  struct Octave {
    std::int64_t first;     ///< positions first .. 2 first - 1 (0: position 0 alone)
    std::int64_t position;  ///< where the worst was
    std::int64_t pair;
    double max_abs;              ///< worst |entry - truth|
    std::vector<double> blocks;  ///< the same of each block of pairs
  };
  std::vector<Octave> by_octave;
  std::int64_t positions = 0;  ///< tried

  /// Pairs fall into this many blocks, or as many as there are: block b holds pairs b n / blocks and up.
  static constexpr std::int64_t kBlocks = 16;
  /// Bin 0: correctly rounded; bin i: errors in (2^(i-2), 2^(i-1)] ulp; the last: larger ones and NaN.
  static constexpr std::size_t kBins = 26;
  std::vector<std::uint64_t> ulp_histogram;  ///< entries in each bin
  UlpSum sum;                                ///< of their errors
};

struct SuiteResult {
  std::vector<VerdictRecord> verdicts;
  std::vector<DriftRecord> drift;
  Audit audit;  ///< of the truth itself, against MPFR
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  std::int64_t no_claim = 0;
  std::int64_t positions = 0;

  SuiteResult& operator+=(SuiteResult other);
};

[[nodiscard]] SuiteResult run_suite(const SuiteOptions& options);

/// A replay string: one law on one kernel under one contract on one case; parse_replay(to_string(r)) == r.
struct Replay {
  std::string law;
  std::string kernel;
  std::string contract;
  bool bits_exact = false;
  Operation operation = Operation::rotate;
  Case c;
  bool operator==(const Replay&) const = default;
};
[[nodiscard]] std::string to_string(const Replay& replay);
/// Throws InputError.
[[nodiscard]] Replay parse_replay(std::string_view text);
[[nodiscard]] Outcome run_replay(const Replay& replay, const Kernel& kernel);

/// The tables of one kernel for a RoPE against exact rows: every position below 64, then seven in each octave
/// up to the context.
[[nodiscard]] DriftRecord measure_drift(const Kernel& kernel, const Subject& subject, Truths& truths);

}  // namespace sextant
