// sextant sweep: every position and pair, certified. sextant merge: shards to one document.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "sextant/reference/error.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/input.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/sweep_document.hpp"
#include "sextant/reports/verbs/verbs.hpp"
#include "sextant/reports/workers.hpp"

namespace sextant {
namespace {

struct Options {
  std::string encoding, positions, kernel, table, operation, truth = "exact", shard, contract, json,
                                                             checkpoint;
  std::string form, tensor, dtype;
  std::optional<std::int64_t> seq_len;
  bool bare = false;
  int threads = 0;
  int search = 0;
  double checkpoint_every = 5;  ///< seconds
};

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  Shard shard{-1, 0};
  if (slash != std::string::npos) {
    std::istringstream index(text.substr(0, slash)), count(text.substr(slash + 1));
    if (!(index >> shard.index) || !index.eof() || !(count >> shard.count) || !count.eof()) shard = {-1, 0};
  }
  if (shard.index < 0 || shard.count < 1 || shard.index >= shard.count || shard.count > 1000000) {
    throw InputError(fmt::format("--shard {}: i/n with 0 <= i < n is needed", text.substr(0, 40)));
  }
  return shard;
}

TableForm parse_form(const std::string& name) {
  for (const TableForm form : {TableForm::half, TableForm::duplicated, TableForm::repeated,
                               TableForm::half_half, TableForm::polar}) {
    if (to_string(form) == name) return form;
  }
  throw InputError(
      fmt::format("--form {}: half, duplicated, repeated, half_half or polar", name.substr(0, 40)));
}

Truth parse_truth(const std::string& name) {
  for (const Truth truth : {Truth::exact, Truth::frequency, Truth::angle, Truth::table}) {
    if (to_string(truth) == name) return truth;
  }
  throw InputError(fmt::format("--truth {}: exact, frequency, angle or table", name.substr(0, 40)));
}

/// Sweeps `range` in segments. A checkpoint is the document of what is done so far; its positions tell how
/// far that is.
SweepDocument run_segments(SweepDocument document, const SweepSubject& subject, const Range& range,
                           const std::string& checkpoint, double every) {
  std::int64_t next = range.begin;
  const std::string identity = [&] {
    SweepDocument empty = document;
    empty.result = {};
    empty.audit = {};
    empty.seconds = 0;
    return to_json(empty);
  }();
  // Beside the partial document: what it is of, and how far it goes.
  if (!checkpoint.empty() && std::filesystem::exists(checkpoint)) {
    const std::string text = read_all(checkpoint);
    std::istringstream lines(text);
    std::string reached, of, line;
    std::getline(lines, reached);
    std::size_t length = 0;
    if (!(std::istringstream(reached) >> next >> length) || length != identity.size() ||
        text.size() < reached.size() + 1 + length || text.substr(reached.size() + 1, length) != identity ||
        next < range.begin || next > range.end) {
      throw InputError(
          fmt::format("{}: is no checkpoint of this sweep; remove it or name another file", checkpoint));
    }
    const SweepDocument done = parse_sweep(text.substr(reached.size() + 1 + length), checkpoint);
    const auto points_done = static_cast<std::uint64_t>((next - range.begin) * subject.pairs());
    if (done.result.tally.points != points_done || done.encoding != document.encoding) {
      throw InputError(
          fmt::format("{}: its parts do not fit together; remove it and sweep anew", checkpoint));
    }
    document.result = done.result;
    document.audit = done.audit;
    complain(fmt::format("resuming at position {}\n", next));
  }

  Progress progress;
  const std::int64_t total = range.end - range.begin;
  // Segments of about a second, so that a checkpoint is never much older than it should be.
  std::int64_t step = std::max<std::int64_t>(1, (std::int64_t{1} << 16) / subject.pairs());
  auto saved = std::chrono::steady_clock::now();
  while (next < range.end) {
    const auto started = std::chrono::steady_clock::now();
    const std::int64_t stop = range.end - next <= step ? range.end : next + step;
    document.result += sweep(subject, next, stop, document.threads, [&](std::int64_t done) {
      progress.show(static_cast<std::size_t>(next - range.begin + done), static_cast<std::size_t>(total),
                    "positions");
    });
    if (subject.by_distance) {
      // The truth is a whole number, or known to 2^-100 from MPFR itself.
    } else if (subject.sinusoid) {
      document.audit += audit(*subject.sinusoid, next, stop);
    } else if ((subject.truth == Truth::exact || subject.truth == Truth::table) && !subject.bare) {
      document.audit +=
          audit(Oracle(subject.rope, subject.seq_len, next, stop), subject.rope, subject.seq_len, next, stop);
    }
    next = stop;
    const auto now = std::chrono::steady_clock::now();
    if (std::chrono::duration<double>(now - started).count() < 0.5) step *= 2;
    if (checkpoint.empty() || next >= range.end || std::chrono::duration<double>(now - saved).count() < every)
      continue;
    SweepDocument partial = document;
    partial.seconds = 0;
    write_document(checkpoint, fmt::format("{} {}\n{}{}", next, identity.size(), identity, to_json(partial)));
    saved = now;
  }
  return document;
}

/// Rows of sines and cosines: what a sweep of them does not know.
void check_rows(const Options& options, const Sinusoidal& scheme, const Range& range) {
  if (!options.operation.empty() && options.operation != to_string(Operation::encode))
    throw InputError(fmt::format("--operation {}: a sinusoidal encoding is swept on encode",
                                 options.operation.substr(0, 40)));
  if (options.kernel.empty() || options.truth != "exact" || options.bare || options.search != 0)
    throw InputError(
        "a sweep of sinusoidal rows takes --kernel and --truth exact, not --table, --bare or --search");
  const PositionRange rows = positions_of(scheme);
  if (!rows.holds(range.begin) || !rows.holds(range.end - 1))
    throw InputError(fmt::format("--positions {}:{}: {} has rows at {} to {} only", range.begin, range.end,
                                 to_string(Encoding(scheme)), rows.first, rows.last));
}

/// What a sweep of an encoding other than RoPE calls.
Operation swept_operation(const Encoding& encoding) {
  if (std::holds_alternative<Sinusoidal>(encoding)) return Operation::encode;
  return std::holds_alternative<Alibi>(encoding) ? Operation::bias : Operation::buckets;
}

/// Distances up to the context, both ways; keys alone where a form of ALiBi looks at nothing else.
Range distances_of(const Encoding& encoding, std::int64_t context) {
  const auto* alibi = std::get_if<Alibi>(&encoding);
  const bool by_key = alibi && (alibi->form == Alibi::Form::key || alibi->form == Alibi::Form::falcon);
  return {by_key ? 0 : 1 - context, context};
}

/// Biases and buckets: what a sweep of them does not know.
void check_by_distance(const Options& options, const Encoding& encoding, const Range& range) {
  const std::string_view operation = to_string(swept_operation(encoding));
  if (!options.operation.empty() && options.operation != operation)
    throw InputError(fmt::format("--operation {}: {} is swept on {}", options.operation.substr(0, 40),
                                 scheme_name(encoding), operation));
  if (options.kernel.empty() || options.truth != "exact" || options.bare || options.search != 0)
    throw InputError(
        fmt::format("a sweep of {} takes a kernel and --truth exact, neither --bare nor --search",
                    scheme_name(encoding)));
  check_distances(encoding, range);
}

int run(const Options& options) {
  if (options.kernel.empty() == options.table.empty())
    throw InputError("sweep needs one of --kernel K and --table FILE.npy or .safetensors");
  const ResolvedEncoding resolved = resolve_encoding(options.encoding);
  print_warnings(resolved.warnings);
  SweepSubject subject;
  (void)sweep_pairs(resolved.encoding);  // refuses other schemes
  std::int64_t context = context_of(resolved.encoding, resolved.max_position);
  if (is_by_distance(resolved.encoding)) {
    subject.by_distance = resolved.encoding;
  } else if (const auto* sinusoid = std::get_if<Sinusoidal>(&resolved.encoding)) {
    subject.sinusoid = *sinusoid;
    context = std::min(context, positions_of(*sinusoid).last + 1);
  } else {
    subject.rope = std::get<Rope>(resolved.encoding);
  }
  const Range whole = !options.positions.empty() ? parse_range(options.positions)
                      : subject.by_distance      ? distances_of(resolved.encoding, context)
                                                 : Range{0, context};
  subject.seq_len = options.seq_len.value_or(std::max<std::int64_t>(whole.end, 1));
  if (subject.seq_len < 1 || subject.seq_len > kMaxPosition + 1)
    throw InputError(fmt::format("--seq-len {}: a length from 1 to 2^40 is needed", subject.seq_len));
  subject.truth = parse_truth(options.truth);
  subject.bare = options.bare;
  if (subject.sinusoid) check_rows(options, *subject.sinusoid, whole);
  if (subject.by_distance) check_by_distance(options, *subject.by_distance, whole);
  const bool turns = !subject.sinusoid && !subject.by_distance;
  const Operation usual = turns ? Operation::tables : swept_operation(resolved.encoding);
  const std::optional<Operation> operation =
      options.operation.empty() ? usual : parse_operation(options.operation);
  if (turns && operation != Operation::tables && operation != Operation::rotate &&
      operation != Operation::rotate_with_tables) {
    throw InputError(
        fmt::format("--operation {}: tables, rotate or rotate_with_tables", options.operation.substr(0, 40)));
  }
  subject.operation = *operation;
  if (!options.contract.empty()) subject.contract = parse_contract(options.contract);
  const bool rotates = turns && subject.operation != Operation::tables;
  const bool with_tables = subject.operation == Operation::rotate_with_tables;
  if (subject.truth == Truth::table && !with_tables)
    throw InputError(
        "--truth table is the exact rotation by given tables: it needs --operation rotate_with_tables");
  if (rotates && ((subject.truth != Truth::exact && subject.truth != Truth::table) || subject.bare ||
                  subject.contract || !options.table.empty())) {
    throw InputError("a rotation takes a kernel, --truth exact or table, and neither --bare nor --contract");
  }
  if (subject.truth == Truth::angle && subject.contract) {
    throw InputError(
        "--contract judges against --truth exact or frequency; stored angles have no contract of their own");
  }
  if (options.search < 0 || options.search > 100000000)
    throw InputError(fmt::format("--search {}: from 0 to 100000000 inputs", options.search));
  if (options.search > 0 && (subject.operation != Operation::rotate || !options.shard.empty())) {
    throw InputError(
        "--search looks for inputs of a whole --operation rotate; not of tables, not of a shard");
  }

  Range range = whole;
  SweepDocument document;
  Workers workers = Workers::start();
  if (!options.shard.empty()) {
    if (workers.count() > 1) throw InputError("--shard and mpirun both split the sweep; use one of them");
    document.shard = parse_shard(options.shard);
  }
  if (workers.count() > 1) document.shard = Shard{workers.index(), workers.count()};
  if (document.shard) {
    if (document.shard->count > whole.end - whole.begin)
      throw InputError(fmt::format("{} shards of {} positions leave some empty; use fewer",
                                   document.shard->count, whole.end - whole.begin));
    range = shard_of(whole.begin, whole.end, document.shard->index, document.shard->count);
  }

  Kernel kernel;
  std::optional<TableFile> table;
  if (!options.kernel.empty()) {
    if (!options.form.empty() || !options.tensor.empty() || !options.dtype.empty())
      throw InputError("--form, --tensor and --dtype are about a --table file");
    kernel = find_kernel(options.kernel);
    subject.kernel = &kernel;
    check_sweepable(kernel, subject.operation, resolved.encoding,
                    subject.by_distance ? Range{0, std::max(1 - whole.begin, whole.end)} : whole);
    if (subject.truth == Truth::angle && !kernel.angles)
      throw InputError(fmt::format("kernel {} offers no angles: --truth exact or frequency", kernel.name));
    if ((subject.truth == Truth::frequency || subject.truth == Truth::angle) && !kernel.frequencies)
      throw InputError(fmt::format("kernel {} offers no frequencies: --truth exact", kernel.name));
    document.kernel = kernel.name;
    document.dtype = "f32";
  } else {
    TableFileOptions reading;
    if (!options.form.empty()) reading.form = parse_form(options.form);
    reading.tensor = options.tensor;
    if (!options.dtype.empty()) reading.dtype = std::string(parse_format(options.dtype).name);
    table.emplace(options.table, whole.end - whole.begin, subject.rope.pairs(), reading);
    subject.table = &*table;
    subject.table_begin = whole.begin;
    if (subject.truth == Truth::angle) throw InputError("--truth angle needs a kernel that offers angles");
    if (subject.truth == Truth::frequency && !table->inv_freq())
      throw InputError(fmt::format("{}: --truth frequency needs the tensor inv_freq", options.table));
    document.table = options.table;
    document.dtype = std::string(table->format().name);
  }
  check_outputs({options.json, options.checkpoint}, {options.table, options.encoding});
  if (!options.checkpoint.empty() && workers.count() > 1)
    throw InputError("--checkpoint is for one process; under mpirun use shards");
  if (!(options.checkpoint_every >= 0)) throw InputError("--checkpoint-every: seconds >= 0");
  if (options.threads < 0 || options.threads > 1024)
    throw InputError(fmt::format("--threads {}: from 1 to 1024, or 0 for all cores", options.threads));

  document.encoding = to_string(resolved.encoding);
  document.operation = std::string(to_string(subject.operation));
  document.truth = std::string(to_string(subject.truth));
  document.bare = subject.bare;
  document.seq_len = subject.seq_len;
  document.positions = whole;
  if (subject.contract) document.contract = subject.contract->name;
  document.threads = options.threads > 0
                         ? options.threads
                         : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));

  const auto start = std::chrono::steady_clock::now();
  workers.begin_work();
  document = run_segments(std::move(document), subject, range, options.checkpoint, options.checkpoint_every);
  document.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (workers.count() > 1) {
    const std::vector<std::string> parts = workers.gather(to_json(document));
    if (workers.index() > 0) return 0;
    std::vector<SweepDocument> shards;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      names.push_back(fmt::format("process {}", i));
      shards.push_back(parse_sweep(parts[i], names.back()));
    }
    const double seconds = document.seconds;
    const int threads = document.threads * workers.count();
    document = merge_sweeps(std::move(shards), names);
    document.seconds = seconds;
    document.threads = threads;
  }
  if (options.search > 0 && document.result.tally.worst) {
    const Tally& tally = document.result.tally;
    document.worst_case = find_worst_case(kernel, subject.rope, subject.seq_len,
                                          *(tally.first_nan ? tally.first_nan : tally.worst), options.search);
  }
  print_text(to_text(document), options.json == "-");
  if (!options.json.empty()) write_document(options.json, to_json(document));
  if (!options.checkpoint.empty()) std::filesystem::remove(options.checkpoint);
  return exit_status(document);
}

}  // namespace

Action add_sweep_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "sweep", "certify every position and pair of a kernel's tables or rotation, or of a table file");
  auto options = std::make_shared<Options>();
  verb->add_option("ENCODING", options->encoding, "text form, config.json or bundled model")->required();
  verb->add_option("--positions", options->positions, "A:B, B excluded (default: 0 to the declared context)");
  verb->add_option("--kernel", options->kernel, "the kernel whose tables or rotation are judged");
  verb->add_option("--table", options->table,
                   "or a file: .safetensors with cos and sin, or .npy; its first row is position A");
  verb->add_option(
      "--operation", options->operation,
      "tables (default), rotate, or rotate_with_tables (by correctly rounded tables); of other schemes the "
      "only one: encode (sinusoidal), bias (alibi), buckets (t5, deberta, shaw)");
  verb->add_option("--truth", options->truth,
                   "exact; frequency or angle: the exact value for what the kernel stores; table: for the "
                   "tables it was given")
      ->capture_default_str();
  verb->add_flag("--bare", options->bare, "the table holds cos and sin without the attention factor");
  verb->add_option("--form", options->form,
                   "half, duplicated, repeated, half_half or polar, where the file's shape cannot tell");
  verb->add_option("--tensor", options->tensor, "one tensor of the file that holds both, e.g. cos_sin_cache");
  verb->add_option("--dtype", options->dtype, "bf16 reads uint16 of an .npy file as bfloat16");
  verb->add_option("--seq-len", options->seq_len, "current length for dynamic and longrope (default: B)");
  verb->add_option("--contract", options->contract, "also judge every element by a contract");
  verb->add_option("--search", options->search,
                   "rotate: also search N inputs x for the worst case at the worst point, and shrink it");
  verb->add_option("--threads", options->threads, "threads, 0 for all cores")->capture_default_str();
  verb->add_option("--shard", options->shard, "i/n: the i-th of n parts; sextant merge joins them");
  verb->add_option("--checkpoint", options->checkpoint, "keep what is done in FILE, and resume from it");
  verb->add_option("--checkpoint-every", options->checkpoint_every, "seconds between checkpoints")
      ->capture_default_str();
  verb->add_option("--json", options->json, "write the document to FILE, - for standard output");
  verb->footer(
      "Errors are in ulp of the true element (rotate: in pair_ulp); sums are integers, so that threads and "
      "shards give the same bytes.\n"
      "Exit status: 0 measured, 1 NaN, undecided or beyond the contract, 2 bad usage or input, 3 the kernel "
      "cannot run here. Examples:\n"
      "  sextant sweep llama-3.1-8b --kernel scalar\n"
      "  sextant sweep \"sinusoidal(dim=512)\" --kernel scalar --positions 0:131072\n"
      "  sextant sweep bloom-176b --kernel simd (positions are distances, pairs are heads)\n"
      "  sextant sweep llama-3.1-8b --table cache.safetensors --positions 0:131072\n"
      "  sextant sweep llama-3.1-8b --kernel simd --positions 0:1048576 --shard 0/4 --json part0.json\n"
      "  mpirun -n 2 sextant sweep llama-3.1-8b --kernel simd --positions 0:1048576 (where built with MPI)");
  return [verb, options] { return verb->parsed() ? run(*options) : -1; };
}

}  // namespace sextant
