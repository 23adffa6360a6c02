// sextant verify: laws and accuracy of kernels on encodings.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "sextant/fixtures/kernels/named.hpp"
#include "sextant/fixtures/worker/worker.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/console.hpp"
#include "sextant/reports/junit.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/run.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

constexpr std::uint64_t kDefaultSeed = 20260101;

struct Options {
  std::vector<std::string> kernels, encodings, laws;
  int cases = 2;
  std::string seed;
  std::string contract;
  std::string json;
  std::string junit;
  std::vector<std::string> operations, required, dtypes;
  std::string layout;
  std::string positions, shape;
  bool isolate = false;
  std::optional<double> time_limit;
};

constexpr std::int64_t kMostPositions = 4096;
constexpr std::int64_t kMostVectors = 1 << 16;

std::uint64_t seed_of(const std::string& text) {
  if (text.empty()) return kDefaultSeed;
  if (text == "random") return std::random_device{}();
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("--seed {}: a whole number >= 0, or random", text.substr(0, 40)));
  }
  return seed;
}

/// "B,S,H".
Shape shape_of(const std::string& text) {
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (extents.size() < 3) {
    const auto [next, error] = std::from_chars(at, end, extents.emplace_back());
    const bool last = extents.size() == 3;
    const bool read = error == std::errc() && (last ? next == end : next != end && *next == ',');
    if (!read || extents.back() < 1 || extents.back() > kMostVectors)
      throw InputError(fmt::format("--shape {}: three whole numbers B,S,H >= 1", text.substr(0, 40)));
    at = last ? next : next + 1;
  }
  if (extents[0] * extents[1] > kMostVectors || extents[0] * extents[1] * extents[2] > kMostVectors)
    throw InputError(fmt::format("--shape {}: more than {} heads in all", text.substr(0, 40), kMostVectors));
  return {extents[0], extents[1], extents[2]};
}

DType dtype_of(const std::string& name) {
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || (*dtype != DType::f32 && *dtype != DType::f16 && *dtype != DType::bf16))
    throw InputError(fmt::format("--dtype {}: f32, f16 or bf16", name.substr(0, 40)));
  return *dtype;
}

/// Keeps of every law the operations named, and drops the laws that have none of them.
void keep_operations(const std::vector<std::string>& names, std::vector<Law>& laws) {
  std::vector<Operation> operations;
  for (const std::string& name : names) {
    const std::optional<Operation> operation = parse_operation(name);
    if (!operation)
      throw InputError(fmt::format(
          "unknown operation \"{}\": frequencies, tables, rotate, rotate_with_tables, rotate_backward, "
          "encode, bias, buckets, relative, attention, angles or sequence",
          name.substr(0, 40)));
    operations.push_back(*operation);
  }
  for (Law& law : laws) {
    std::erase_if(law.operations, [&](Operation operation) {
      return std::find(operations.begin(), operations.end(), operation) == operations.end();
    });
  }
  std::erase_if(laws, [](const Law& law) { return law.operations.empty(); });
  if (laws.empty()) throw InputError(fmt::format("no law chosen is checked on {}", fmt::join(names, ", ")));
}

/// The options that change cases, bounds or what is drawn, to run a verdict again.
std::string arguments_of(const Options& options) {
  std::string text = fmt::format("--cases {}", options.cases);
  if (!options.contract.empty()) text += fmt::format(" --contract '{}'", options.contract);
  if (!options.layout.empty()) text += fmt::format(" --layout {}", options.layout);
  if (!options.positions.empty()) text += fmt::format(" --positions {}", options.positions);
  if (!options.shape.empty()) text += fmt::format(" --shape {}", options.shape);
  return text;
}

void add_bundled(SuiteOptions& suite, Run& run) {
  for (const ModelConfig& model : bundled_models()) {
    bool supported = false;
    for (const ConfigEncoding& entry : model.encodings) {
      const std::string name =
          entry.selector.empty() ? model.name : fmt::format("{}#{}", model.name, entry.selector);
      if (!entry.encoding) {
        run.not_supported.push_back({name, entry.unsupported});
        continue;
      }
      supported = true;
      suite.subjects.push_back({name, *entry.encoding, context_of(*entry.encoding, entry.max_position)});
    }
    run.models += supported;
  }
}

void add_named(const std::string& text, SuiteOptions& suite, Run& run) {
  std::vector<ResolvedEncoding> encodings;
  try {
    encodings = resolve_encodings(text);
  } catch (const UnsupportedEncoding& unsupported) {
    run.not_supported.push_back({text, unsupported.what()});
    complain(fmt::format("warning: {}\n", printable(unsupported.what())));
    return;
  }
  for (const ResolvedEncoding& resolved : encodings) {
    print_warnings(resolved.warnings);
    suite.subjects.push_back({resolved.model.empty() ? std::nullopt : std::optional(resolved.model),
                              resolved.encoding, context_of(resolved.encoding, resolved.max_position)});
  }
  ++run.models;
}

/// A position asked for that a learned table has no row for.
void check_rows(const Encoding& encoding, const std::vector<std::int64_t>& positions) {
  const auto* learned = std::get_if<Learned>(&encoding);
  if (!learned) return;
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= learned->rows - learned->offset)
      throw InputError(fmt::format("--positions {}: {} has rows for the positions 0 to {}", position,
                                   to_string(encoding), learned->rows - learned->offset - 1));
  }
}

std::optional<std::chrono::milliseconds> time_limit_of(std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  if (!(*seconds >= 0.001 && *seconds <= 1e6))
    throw InputError(fmt::format("--time-limit {}: seconds from 0.001 to 1000000", *seconds));
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

int verify(const Options& options) {
  SuiteOptions suite;
  Run run;
  run.seed = suite.seed = seed_of(options.seed);
  if (options.seed == "random") complain(fmt::format("seed {}\n", run.seed));
  if (options.cases < 1 || options.cases > 1000000)
    throw InputError(fmt::format("--cases {}: from 1 to 1000000", options.cases));
  suite.cases = options.cases;
  if (!options.contract.empty()) suite.contract = parse_contract(options.contract);
  const std::optional<std::chrono::milliseconds> time_limit = time_limit_of(options.time_limit);
  for (const std::string& name : options.kernels) {
    Kernel kernel = find_kernel(name, time_limit);
    const auto same = [&](const Kernel& other) { return other.name == kernel.name; };
    if (std::none_of(suite.kernels.begin(), suite.kernels.end(), same))
      suite.kernels.push_back(std::move(kernel));
  }
  if (options.kernels.empty()) {
    for (const Kernel& kernel : own_kernels()) suite.kernels.push_back(find_kernel(kernel.name, time_limit));
  }
  for (const std::string& id : options.laws) suite.laws.push_back(find_law(id));
  for (const Law& law : laws()) {
    // A question about an encoding is not answered by laws of bare attention.
    if (options.laws.empty() && (law.needs_encoding || options.encodings.empty())) suite.laws.push_back(law);
  }
  if (!options.operations.empty()) keep_operations(options.operations, suite.laws);
  for (const std::string& name : options.dtypes) suite.dtypes.push_back(dtype_of(name));
  if (!options.layout.empty()) {
    suite.layout = parse_layout(options.layout);
    if (!suite.layout)
      throw InputError(fmt::format("--layout {}: bshd, bhsd, sbhd or thd", options.layout.substr(0, 40)));
  }
  if (!options.positions.empty()) suite.positions = parse_positions(options.positions, kMostPositions);
  if (!options.shape.empty()) suite.shape = shape_of(options.shape);
  if (suite.shape && !suite.positions.empty() &&
      suite.shape->tokens != static_cast<std::int64_t>(suite.positions.size()))
    throw InputError(fmt::format("--shape {} has {} tokens, --positions has {}", options.shape,
                                 suite.shape->tokens, suite.positions.size()));
  for (const std::string& name : options.required) {
    const Kernel required = find_kernel(name, time_limit);
    if (!required.unavailable.empty()) run.missing.push_back({name, required.unavailable});
    const auto same = [&](const Kernel& kernel) { return kernel.name == required.name; };
    if (std::none_of(suite.kernels.begin(), suite.kernels.end(), same)) suite.kernels.push_back(required);
  }
  if (options.isolate) {
    WorkerOptions worker;
    worker.time_limit = time_limit.value_or(worker.time_limit);
    for (Kernel& kernel : suite.kernels) {
      if (!runs_in_worker(kernel)) kernel = in_worker(kernel, worker);
    }
  } else if (time_limit && std::none_of(suite.kernels.begin(), suite.kernels.end(), runs_in_worker)) {
    throw InputError("--time-limit holds for isolated kernels only: add --isolate");
  }
  const bool asks_tables =
      options.operations.empty() ||
      std::find(options.operations.begin(), options.operations.end(), "tables") != options.operations.end();
  const bool asks_f32 = suite.dtypes.empty() ||
                        std::find(suite.dtypes.begin(), suite.dtypes.end(), DType::f32) != suite.dtypes.end();
  suite.drift = asks_tables && asks_f32 && suite.positions.empty();
  std::set<std::string> named;
  for (const std::string& text : options.encodings) {
    if (named.insert(text).second) add_named(text, suite, run);
  }
  for (const Subject& subject : suite.subjects) check_rows(subject.encoding, suite.positions);
  if (options.encodings.empty()) add_bundled(suite, run);
  run.arguments = arguments_of(options);
  check_outputs({options.json, options.junit}, options.encodings);
  for (const MissingKernel& missing : run.missing)
    complain(fmt::format("required kernel {} is unavailable: {}\n", missing.kernel, missing.reason));

  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress;
    suite.progress = [&](std::size_t done, std::size_t total, const std::string& what) {
      progress.show(done, total, what);
    };
    run.result = run_suite(suite);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.environment = this_environment();

  std::vector<Document> outputs;
  if (!options.json.empty()) outputs.push_back({options.json, to_json(run)});
  if (!options.junit.empty()) outputs.push_back({options.junit, to_junit(run)});
  write_documents(outputs);
  const bool to_error = options.json == "-" || options.junit == "-";
  const std::string text = to_text(run, wants_colours(to_error ? STDERR_FILENO : STDOUT_FILENO));
  print_text(text, to_error);
  return exit_status(run);
}

}  // namespace

Action add_verify_verb(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("verify", "check kernels against exact mathematics: laws, contracts, drift");
  auto options = std::make_shared<Options>();
  verb->add_option("--kernel", options->kernels, "kernel to verify, repeatable (default: all own kernels)")
      ->allow_extra_args(false);
  verb->add_option(
          "--encoding", options->encodings,
          "text form, config.json or bundled model, repeatable (default: every supported bundled model)")
      ->allow_extra_args(false);
  verb->add_option("--law", options->laws, "law to check, repeatable (default: all)")
      ->allow_extra_args(false);
  verb->add_option("--cases", options->cases, "random cases per law and encoding")->capture_default_str();
  verb->add_option("--seed", options->seed,
                   fmt::format("seed of all draws, or random (default {})", kDefaultSeed));
  verb->add_option("--contract", options->contract,
                   "judge every kernel by this contract instead of the one it claims");
  verb->add_option("--operation", options->operations, "check laws on this operation only, repeatable")
      ->allow_extra_args(false);
  verb->add_option("--dtype", options->dtypes,
                   "check in f32, f16 or bf16 only, repeatable (default: all that a kernel offers)")
      ->allow_extra_args(false);
  verb->add_option(
      "--layout", options->layout,
      "call kernels in this layout only: bshd, bhsd, sbhd or thd (default: all that they offer)");
  verb->add_option(
      "--positions", options->positions,
      fmt::format("positions of every case, 0,1,17 or A:B, at most {} (default: drawn)", kMostPositions));
  verb->add_option("--shape", options->shape,
                   "batch, tokens and heads of every case, B,S,H (default: drawn)");
  verb->add_option("--require", options->required,
                   "verify this kernel too, and exit 1 where it is unavailable here; repeatable")
      ->allow_extra_args(false);
  verb->add_flag("--isolate", options->isolate,
                 "call kernels in a process of their own: crashes, guard pages, read-only inputs, 4 GiB of "
                 "address space, a time limit");
  verb->add_option("--time-limit", options->time_limit,
                   "seconds that a call of an isolated kernel may take (default 10; 1 for fault:..)");
  verb->add_option("--json", options->json, "write the run document to FILE, - for standard output");
  verb->add_option("--junit", options->junit, "write JUnit XML for CI to FILE, - for standard output");
  verb->footer(
      "Exit status: 0 something passed and nothing failed, 1 a failure, a crash or a check that cannot be "
      "trusted, "
      "2 bad usage, 3 nothing could be "
      "verified. Examples:\n"
      "  sextant verify\n"
      "  sextant verify --kernel scalar --encoding llama-3.1-8b --contract exact-angle\n"
      "  sextant verify --law rope_elementwise --cases 100 --seed random --json run.json\n"
      "  sextant verify --require simd/AVX2 --junit sextant.xml\n"
      "  sextant verify --kernel scalar --operation rotate --positions 0,131071 --shape 2,2,8");
  return [verb, options] { return verb->parsed() ? verify(*options) : -1; };
}

}  // namespace sextant
