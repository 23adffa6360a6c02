// Running laws over subjects and kernels.
#include "sextant/props/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "sextant/props/call.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/audit.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kShort = 512;
constexpr int kKeptCases = 256;  // after so many cases of a law rows are forgotten: memory stays small
constexpr std::int64_t kAudited = 16384;  // positions of each subject whose audited points are recomputed

/// The record of one kernel and operation, and the worst case that failed.
struct Cell {
  VerdictRecord record;
  bool any = false;
  std::optional<Case> failing;
  double failing_share = 0;
  bool timed_out = false;  ///< the failing case is kept as it is
};

void merge(Cell& cell, const Outcome& outcome, const Case& c) {
  VerdictRecord& record = cell.record;
  ++record.cases;
  record.measure += outcome.measure;
  if (!cell.any || outcome.verdict < record.verdict) {
    record.verdict = outcome.verdict;
    record.reason = outcome.reason;
  }
  cell.any = true;
  const bool bad = outcome.verdict == Verdict::fail || outcome.verdict == Verdict::crashed;
  if (bad && (!cell.failing || outcome.measure.share() > cell.failing_share)) {
    cell.failing = c;
    cell.failing_share = outcome.measure.share();
    cell.timed_out = outcome.timed_out;
  }
}

/// Mistrusted ("no claim on any element") is the verdict over cases only where every case is so.
Outcome without_empty_claim(Outcome outcome, bool others_passed) {
  if (outcome.verdict == Verdict::mistrusted && outcome.measure.no_claim > 0 && others_passed)
    outcome.verdict = Verdict::pass;
  return outcome;
}

std::uint64_t draw_of(const SuiteOptions& options, const Law& law, const Subject* subject, int index) {
  std::uint64_t hash = options.seed;
  for (const char ch : law.id) hash = scatter(hash ^ static_cast<unsigned char>(ch));
  if (subject) {
    for (const char ch : to_string(subject->encoding)) hash = scatter(hash ^ static_cast<unsigned char>(ch));
  }
  return scatter(hash + static_cast<std::uint64_t>(index));
}

/// The case of a draw, with what the options fix in place of what was drawn.
Case case_of(const SuiteOptions& options, CaseSpace space, std::uint64_t draw) {
  if (options.shape) {
    space.min_tokens = space.max_tokens = options.shape->tokens;
    space.large = false;
  }
  Case c = draw_case(space, draw, 0);
  if (options.shape) {
    c.batch = options.shape->batch;
    c.heads = options.shape->heads;
    c.kv_heads = std::gcd(c.kv_heads, c.heads);
    if (space.grouped && c.kv_heads == c.heads) c.kv_heads = 1;
  }
  if (!options.positions.empty()) {
    c.positions = options.positions;
    const std::int64_t longest = *std::max_element(c.positions.begin(), c.positions.end());
    c.seq_len = std::max<std::int64_t>(longest, 0) + c.shift + 1;
  }
  c.layout = options.layout;
  return c;
}

/// Draws share state inside RapidCheck.
Case drawn(const SuiteOptions& options, const CaseSpace& space, std::uint64_t draw) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  return case_of(options, space, draw);
}

/// A kernel that does not claim to be concurrent is called by one thread at a time, and so are all such.
std::unique_lock<std::mutex> turn_of(const Kernel& kernel) {
  static std::mutex mutex;
  std::unique_lock lock(mutex, std::defer_lock);
  if (!kernel.capabilities.concurrent) lock.lock();
  return lock;
}

Outcome judge(const Law& law, const Trial& trial) {
  const std::unique_lock<std::mutex> turn = turn_of(trial.kernel);
  try {
    return run_trial(law, trial);
  } catch (const OutOfResources&) {
    throw;
  } catch (const InputError& error) {
    // Cases are legal: this is a kernel's, and the run goes on with the next.
    return {Verdict::crashed, {}, error.what()};
  }
}

/// One record for an operation that is not offered, unless dtypes were asked for.
std::vector<DType> dtypes_to_run(const SuiteOptions& options, const Kernel& kernel, Operation operation) {
  if (!options.dtypes.empty()) return options.dtypes;
  return kernel.offers(operation) ? dtypes_of(kernel, operation) : std::vector{DType::f32};
}

/// Why a law cannot do with what the options fix, or nothing.
std::optional<std::string> cannot_take(const SuiteOptions& options, const CaseSpace& space) {
  const auto positions = static_cast<std::int64_t>(options.positions.size());
  if (positions > 0 && space.consecutive) return "this law chooses its positions itself";
  if (positions > 0 && positions < space.min_tokens)
    return fmt::format("this law needs at least {} positions", space.min_tokens);
  if (options.shape && options.shape->tokens < space.min_tokens)
    return fmt::format("this law needs at least {} tokens", space.min_tokens);
  if (options.shape && space.grouped && options.shape->heads < 2) return "this law needs several heads";
  return std::nullopt;
}

void run_law(const SuiteOptions& options, const Law& law, const Subject* subject, Truths& truths,
             SuiteResult& result) {
  const std::optional<Encoding> encoding = subject ? std::optional(subject->encoding) : std::nullopt;
  const std::int64_t context = subject ? subject->context : 4096;
  const std::uint64_t first = draw_of(options, law, subject, 0);
  if (!law.space(encoding, context, first)) return;

  struct Slot {
    const Kernel* kernel;
    DType dtype;
    Contract contract;
    Cell cell;
    std::vector<std::pair<Case, Outcome>> empty_claims;
  };
  for (const Operation operation : law.operations) {
    if (encoding && !concerns(operation, *encoding)) continue;
    std::vector<Slot> slots;
    for (const Kernel& kernel : options.kernels) {
      for (const DType dtype : dtypes_to_run(options, kernel, operation)) {
        Slot& slot = slots.emplace_back(
            Slot{&kernel, dtype, options.contract.value_or(claimed_contract(kernel)), {}, {}});
        VerdictRecord& record = slot.cell.record;
        record.law = law.id;
        record.kernel = kernel.name;
        record.operation = operation;
        record.dtype = dtype;
        record.contract = slot.contract.name;
        if (subject) {
          record.model = subject->model;
          record.encoding = to_string(subject->encoding);
        }
      }
    }
    if (const std::optional<std::string> reason =
            cannot_take(options, *law.space(encoding, context, first))) {
      for (Slot& slot : slots) {
        slot.cell.record.reason = *reason;
        result.verdicts.push_back(std::move(slot.cell.record));
      }
      continue;
    }
    for (int index = 0; index < options.cases; ++index) {
      const std::uint64_t draw = draw_of(options, law, subject, index);
      std::optional<CaseSpace> space = law.space(encoding, context, draw);
      if (index == 0) {
        // One case at short positions, where every contract claims something: no verdict rests on empty
        // claims alone.
        space->max_shift = std::min(space->max_shift, kShort);
        space->max_position = std::min(space->max_position, 2 * kShort);
      }
      const Case c = drawn(options, *space, draw);
      if (index % kKeptCases == kKeptCases - 1) truths.forget();
      ++result.cases;
      result.positions += c.tokens();
      for (Slot& slot : slots) {
        if (slot.cell.record.verdict == Verdict::unavailable) continue;
        Case fitted = c;
        const Capabilities& can = slot.kernel->capabilities;
        fitted.dtype = slot.dtype;
        if (operation == Operation::rotate_with_tables && !can.tables.empty())
          fitted.table = can.tables[scatter(c.seed) % can.tables.size()];
        const auto fit = [&](std::int64_t& position) {
          if (position < 0 && !can.negative_positions) position = -position;
          position = std::min(position, can.max_position - std::max<std::int64_t>(c.shift, 0));
        };
        if (options.positions.empty()) std::for_each(fitted.positions.begin(), fitted.positions.end(), fit);
        std::for_each(fitted.keys.begin(), fitted.keys.end(), fit);
        Outcome outcome = judge(law, {fitted, operation, *slot.kernel, slot.contract, truths});
        result.elements += outcome.measure.elements;
        result.no_claim += outcome.measure.no_claim;
        if (outcome.verdict == Verdict::mistrusted && outcome.measure.no_claim > 0) {
          slot.empty_claims.emplace_back(std::move(fitted), std::move(outcome));
        } else {
          merge(slot.cell, outcome, fitted);
        }
      }
    }
    for (Slot& slot : slots) {
      Cell& cell = slot.cell;
      for (const auto& [c, outcome] : slot.empty_claims)
        merge(cell, without_empty_claim(outcome, cell.any), c);
      if (cell.failing) {
        const auto outcome_of = [&](const Case& c) {
          return judge(law, {c, operation, *slot.kernel, slot.contract, truths});
        };
        const auto fails = [&](const Case& c) {
          const Verdict verdict = outcome_of(c).verdict;
          return verdict == Verdict::fail || verdict == Verdict::crashed;
        };
        Case simple = *cell.failing;
        if (!cell.timed_out) {
          simple = shrink(std::move(simple), fails, 150);
          cell.record.witness = outcome_of(simple).measure.witness;
        }
        cell.record.replay = to_string(Replay{law.id, slot.kernel->name, slot.contract.name,
                                              slot.contract.bits_exact, operation, simple});
      } else {
        cell.record.witness = cell.record.measure.witness;
      }
      result.verdicts.push_back(std::move(cell.record));
    }
  }
}

/// The truth of a subject against MPFR; frequencies beyond the oracle's range have their truth from MPFR
/// itself.
Audit audit_of(const Subject& subject) {
  const Rope* rope = std::get_if<Rope>(&subject.encoding);
  if (!rope || !Oracle::serves(exact_frequencies(*rope, subject.context).inv_freq)) return {};
  const Oracle oracle(*rope, subject.context, 0, subject.context);
  return audit(oracle, *rope, subject.context, 0, std::min(subject.context, kAudited));
}

/// A kernel that throws here has thrown in its laws too, where it is judged.
std::optional<DriftRecord> drift_of(const Kernel& kernel, const Subject& subject, Truths& truths) {
  const std::unique_lock<std::mutex> turn = turn_of(kernel);
  try {
    return measure_drift(kernel, subject, truths);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

namespace {

/// What laws by geometry look at of an encoding.
std::string geometry_of(const Encoding& encoding) {
  const Rope* rope = std::get_if<Rope>(&encoding);
  if (!rope) return to_string(encoding);
  return fmt::format("{} {} {}", to_string(rope->pairing), rope->dim, rope->head_dim);
}

SuiteResult run_subject(const SuiteOptions& options, const Subject& subject, bool new_geometry) {
  SuiteResult result;
  Truths truths;
  for (const Law& law : options.laws) {
    if (law.needs_encoding && (new_geometry || !law.by_geometry))
      run_law(options, law, &subject, truths, result);
  }
  result.audit = audit_of(subject);
  for (const Kernel& kernel : options.kernels) {
    if (!options.drift || !kernel.unavailable.empty() || !kernel.tables) continue;
    if (!std::holds_alternative<Rope>(subject.encoding)) continue;
    if (std::optional<DriftRecord> drift = drift_of(kernel, subject, truths))
      result.drift.push_back(std::move(*drift));
  }
  return result;
}

}  // namespace

SuiteResult& SuiteResult::operator+=(SuiteResult other) {
  std::move(other.verdicts.begin(), other.verdicts.end(), std::back_inserter(verdicts));
  std::move(other.drift.begin(), other.drift.end(), std::back_inserter(drift));
  audit += other.audit;
  cases += other.cases;
  elements += other.elements;
  no_claim += other.no_claim;
  positions += other.positions;
  return *this;
}

SuiteResult run_suite(const SuiteOptions& options) {
  for (const Kernel& kernel : options.kernels) {
    const auto printable = [](char ch) { return ch > ' ' && ch <= '~'; };
    if (kernel.name.empty() || !std::all_of(kernel.name.begin(), kernel.name.end(), printable))
      throw InputError("a kernel's name must be of printable ASCII characters without spaces");
  }
  SuiteResult result;
  Truths truths;
  for (const Law& law : options.laws) {
    if (!law.needs_encoding) run_law(options, law, nullptr, truths, result);
  }

  const std::size_t count = options.subjects.size();
  std::vector<SuiteResult> parts(count);
  std::set<std::string> geometries;
  std::vector<bool> new_geometry;
  for (const Subject& subject : options.subjects)
    new_geometry.push_back(geometries.insert(geometry_of(subject.encoding)).second);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t begun = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const Subject& subject = options.subjects[i];
      try {
        if (options.progress) {
          const std::scoped_lock lock(mutex);
          options.progress(begun++, count, subject.model.value_or(to_string(subject.encoding)));
        }
        parts[i] = run_subject(options, subject, new_geometry[i]);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads =
      std::min(count, static_cast<std::size_t>(options.threads > 0 ? options.threads : cores));
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  for (SuiteResult& part : parts) result += std::move(part);
  return result;
}

namespace {

std::size_t bin_of(double ulp) {
  if (ulp <= 0.5) return 0;
  if (!(ulp <= 0x1p23)) return DriftRecord::kBins - 1;
  int exponent = 0;
  const bool power = std::frexp(ulp, &exponent) == 0.5;  // ulp in [2^(exponent-1), 2^exponent)
  return static_cast<std::size_t>(exponent + (power ? 0 : 1));
}

}  // namespace

DriftRecord measure_drift(const Kernel& kernel, const Subject& subject, Truths& truths) {
  constexpr std::int64_t kDense = 64;
  constexpr std::int64_t kPerOctave = 7;
  std::set<std::int64_t> positions;
  for (std::int64_t p = 0; p < std::min(kDense, subject.context); ++p) positions.insert(p);
  for (std::int64_t first = kDense; first < subject.context; first *= 2) {
    const std::int64_t last = std::min(2 * first, subject.context) - 1;
    for (std::int64_t step = 0; step < kPerOctave; ++step)
      positions.insert(last - (last - first) * step / kPerOctave);
  }
  DriftRecord drift;
  drift.kernel = kernel.name;
  drift.model = subject.model;
  drift.encoding = to_string(subject.encoding);
  drift.context = subject.context;
  std::vector<std::int64_t> rows(positions.begin(), positions.end());
  drift.positions = static_cast<std::int64_t>(rows.size());
  drift.ulp_histogram.assign(DriftRecord::kBins, 0);
  const auto& rope = std::get<Rope>(subject.encoding);
  const std::int64_t blocks = std::min(DriftRecord::kBlocks, rope.pairs());
  const KernelTables tables = kernel_tables(kernel, rope, subject.context, rows);
  ExactRows& exact = truths.rows(rope, subject.context);
  const Bounds& bounds = truths.bounds(parse_contract("exact-angle"), rope, subject.context);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::int64_t position = rows[r];
    const std::int64_t octave =
        position == 0 ? 0 : std::int64_t{1} << std::ilogb(static_cast<double>(position));
    if (drift.by_octave.empty() || drift.by_octave.back().first != octave)
      drift.by_octave.push_back(
          {octave, position, 0, 0, std::vector<double>(static_cast<std::size_t>(blocks), 0)});
    DriftRecord::Octave& worst = drift.by_octave.back();
    const ExactRow& row = exact.at(position);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const Wide& c = row.cos[static_cast<std::size_t>(i)];
      const Wide& s = row.sin[static_cast<std::size_t>(i)];
      const TableSlots slots = table_slots(tables.form, rope.pairs(), i);
      const PairBound at = bounds.pair(i, position, c.value(), s.value());
      const auto take = [&](float got, const Wide& want, double bound) {
        const double error = std::isfinite(got) ? std::fabs((Wide(got) - want).value()) : INFINITY;
        if (error > worst.max_abs) {
          worst.position = position;
          worst.pair = i;
          worst.max_abs = error;
        }
        double& block = worst.blocks[static_cast<std::size_t>(i * blocks / rope.pairs())];
        block = std::max(block, error);
        const double ulp = error_ulp(got, want, kFloat32);
        ++drift.ulp_histogram[bin_of(ulp)];
        drift.sum += UlpSum::from_ulp(ulp);
        if (error > bound && !drift.leaves_exact_angle) drift.leaves_exact_angle = position;
      };
      take(tables.cos[r * static_cast<std::size_t>(tables.width) + static_cast<std::size_t>(slots.cos)], c,
           bounds.table_entry(at, at.cos, c.value(), s.value()).absolute);
      take(tables
               .sin_table()[r * static_cast<std::size_t>(tables.width) + static_cast<std::size_t>(slots.sin)],
           s, bounds.table_entry(at, at.sin, s.value(), c.value()).absolute);
    }
  }
  return drift;
}

std::string to_string(const Replay& replay) {
  return fmt::format("law={} kernel={} contract={}{} operation={} {}", replay.law, replay.kernel,
                     replay.contract, replay.bits_exact ? "+bits" : "", to_string(replay.operation),
                     to_string(replay.c));
}

Replay parse_replay(std::string_view text) {
  Replay replay;
  std::string rest;
  std::set<std::string> seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const auto take = [&](std::string_view key, std::string& value) {
      if (!word.starts_with(key)) return false;
      if (!seen.insert(std::string(key)).second)
        throw InputError(fmt::format("replay: the key \"{}\" stands twice", key.substr(0, key.size() - 1)));
      value = std::string(word.substr(key.size()));
      return true;
    };
    std::string operation;
    if (take("law=", replay.law) || take("kernel=", replay.kernel) || take("contract=", replay.contract))
      continue;
    if (take("operation=", operation)) {
      const std::optional<Operation> parsed = parse_operation(operation);
      if (!parsed) throw InputError(fmt::format("replay: unknown operation \"{}\"", operation.substr(0, 40)));
      replay.operation = *parsed;
      continue;
    }
    rest += fmt::format("{}{}", rest.empty() ? "" : " ", word);
  }
  for (const char* key : {"law=", "kernel=", "contract=", "operation="}) {
    if (!seen.contains(key))
      throw InputError(
          fmt::format("replay: {}.. is missing; pass the whole replay line as one argument", key));
  }
  if (replay.contract.ends_with("+bits")) {
    replay.bits_exact = true;
    replay.contract.resize(replay.contract.size() - 5);
  }
  const Law& law = find_law(replay.law);
  if (std::find(law.operations.begin(), law.operations.end(), replay.operation) == law.operations.end()) {
    throw InputError(fmt::format("replay: {} is not checked on {}", law.id, to_string(replay.operation)));
  }
  (void)parse_contract(replay.contract);
  replay.c = parse_case(rest);
  if (law.needs_encoding && !replay.c.encoding)
    throw InputError(fmt::format("replay: {} needs encoding=..", law.id));
  return replay;
}

Outcome run_replay(const Replay& replay, const Kernel& kernel) {
  Contract contract = parse_contract(replay.contract);
  contract.bits_exact = replay.bits_exact;
  Truths truths;
  return run_trial(find_law(replay.law), {replay.c, replay.operation, kernel, contract, truths});
}

}  // namespace sextant
