// sextant table: exact values of an encoding.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "sextant/fixtures/foreign/table_file.hpp"
#include "sextant/reference/decimal.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/table.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/table_bias.hpp"
#include "sextant/reports/verbs/table_relative.hpp"
#include "sextant/reports/verbs/table_rows.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kMaxPositions = std::int64_t{1} << 20;
constexpr std::int64_t kMaxPrintedCharacters = std::int64_t{1} << 28;
constexpr std::int64_t kMaxFileValues = std::int64_t{1} << 26;

struct Options {
  std::string encoding;
  std::string positions = "0:8";
  std::optional<unsigned> digits;
  std::string dtype;
  std::optional<std::int64_t> seq_len;
  std::string out;
  bool bare = false;
  std::string json;
};

std::string to_json(const Rope& rope, const TableRequest& request, const PrintedTable& table) {
  nlohmann::ordered_json document = {
      {"encoding", to_string(Encoding(rope))},
      {"seq_len", request.seq_len},
      {"inv_freq", table.inv_freq},
      {"attention_factor", table.attention_factor},
      {"positions", request.positions},
      {"cos", table.cos},
      {"sin", table.sin},
  };
  if (request.format) {
    document["dtype"] = request.format->name;
  } else {
    document["digits"] = request.digits;
  }
  return document.dump(1) + "\n";
}

std::string to_text(const Rope& rope, const TableRequest& request, const PrintedTable& table) {
  std::string text = fmt::format("{}\nattention_factor {}   (cos and sin below are bare)\n\ninv_freq\n",
                                 to_string(Encoding(rope)), table.attention_factor);
  for (std::size_t i = 0; i < table.inv_freq.size(); ++i)
    text += fmt::format("  pair {:>4}  {}\n", i, table.inv_freq[i]);
  for (std::size_t r = 0; r < table.cos.size(); ++r) {
    text += fmt::format("\nposition {}\n", request.positions[r]);
    for (std::size_t i = 0; i < table.cos[r].size(); ++i) {
      text += fmt::format("  pair {:>4}  cos {:>{}}  sin {:>{}}\n", i, table.cos[r][i], request.digits + 3,
                          table.sin[r][i], request.digits + 3);
    }
  }
  return text;
}

/// The document of an encoding without cos and sin, or nothing where it is a RoPE.
std::optional<std::string> other_table(const Encoding& encoding, const TableRequest& request, bool json) {
  if (const Alibi* alibi = std::get_if<Alibi>(&encoding)) return print_table(*alibi, request, json);
  if (const T5* t5 = std::get_if<T5>(&encoding)) return print_table(*t5, request, json);
  if (const Deberta* deberta = std::get_if<Deberta>(&encoding)) return print_table(*deberta, request, json);
  return relative_table(encoding, request, json);
}

/// Positions, and digits or a format, as printed tables of any scheme ask for them.
template <class Request>
void read_values(const Options& options, Request& request) {
  request.positions = parse_positions(options.positions, kMaxPositions);
  request.digits = options.digits.value_or(20);
  if (request.digits < 1 || request.digits > kMaxPrintedDigits) {
    throw InputError(
        fmt::format("--digits {}: from 1 to {} significant digits", request.digits, kMaxPrintedDigits));
  }
  if (!options.dtype.empty()) request.format = &parse_format(options.dtype);
}

/// `values` decimals for each of `rows` positions, named so in the complaint.
template <class Request>
void check_printable(const Request& request, std::int64_t values, std::string_view named) {
  const auto rows = static_cast<std::int64_t>(request.positions.size());
  const std::int64_t characters =
      rows * values * (request.format ? 24 : static_cast<std::int64_t>(request.digits) + 12);
  if (characters > kMaxPrintedCharacters) {
    throw InputError(
        fmt::format("{} positions of {} with {} digits are over 2^28 characters to print; ask for "
                    "fewer, or --out FILE.npy",
                    rows, named, request.digits));
  }
}

int run_rows(const Options& options, const Sinusoidal& scheme) {
  if (options.seq_len || options.bare || !options.out.empty())
    throw InputError(
        "rows of a sinusoidal encoding are printed, or written with --json; they take no --out, "
        "--bare or --seq-len");
  RowsRequest request;
  request.scheme = scheme;
  read_values(options, request);
  check_printable(request, scheme.dim, fmt::format("{} columns", scheme.dim));
  check_outputs({options.json}, {options.encoding});
  Progress progress;
  const PrintedRows printed = print_rows(request, [&](std::size_t done) {
    if (done % 16 == 0) progress.show(done, request.positions.size(), "rows");
  });
  write_document(options.json.empty() ? "-" : options.json,
                 options.json.empty() ? rows_text(request, printed) : rows_json(request, printed));
  return 0;
}

int run(const Options& options) {
  if (options.digits && !options.dtype.empty())
    throw InputError("--digits and --dtype exclude each other: decimals, or values of a dtype");
  const ResolvedEncoding resolved = resolve_encoding(options.encoding);
  print_warnings(resolved.warnings);
  if (const auto* scheme = std::get_if<Sinusoidal>(&resolved.encoding)) return run_rows(options, *scheme);
  if (std::holds_alternative<Learned>(resolved.encoding))
    throw InputError(fmt::format("table: the rows of {} are learned, not computed: there is nothing to print",
                                 to_string(resolved.encoding)));
  TableRequest request;
  read_values(options, request);
  const std::int64_t longest = *std::max_element(request.positions.begin(), request.positions.end());
  request.seq_len = options.seq_len.value_or(std::max<std::int64_t>(longest + 1, 1));
  if (request.seq_len < 1 || request.seq_len > kMaxPosition + 1) {
    throw InputError(fmt::format("--seq-len {}: a length from 1 to 2^40 is needed", request.seq_len));
  }
  check_outputs({options.json, options.out}, {options.encoding});
  if (const auto text = other_table(resolved.encoding, request, !options.json.empty())) {
    if (!options.out.empty() || options.bare || options.seq_len)
      throw InputError(fmt::format("--out, --bare and --seq-len are about cos and sin, which {} has none of",
                                   scheme_name(resolved.encoding)));
    write_document(options.json.empty() ? "-" : options.json, *text);
    return 0;
  }
  request.rope = rope_for("table", resolved.encoding);
  if (options.bare && options.out.empty())
    throw InputError("--bare is about the table file of --out; printed cos and sin are always bare");

  const auto rows = static_cast<std::int64_t>(request.positions.size());
  Progress progress;
  const auto show = [&](std::size_t done) {
    if (done % 16 == 0) progress.show(done, request.positions.size(), "rows");
  };
  if (!options.out.empty()) {
    if (rows * request.rope.pairs() > kMaxFileValues) {
      throw InputError(
          fmt::format("--out: {} positions of {} pairs are over 2^26 points; give a shorter range", rows,
                      request.rope.pairs()));
    }
    TableRequest rounded = request;
    if (!rounded.format) rounded.format = &kFloat32;
    (void)table_file_bytes(options.out, {}, 0, 0,
                           *rounded.format);  // refuses an unknown ending before the work
    const RoundedTable table = round_table(rounded, options.bare, show);
    write_document(options.out,
                   table_file_bytes(options.out, table, static_cast<std::size_t>(rows),
                                    static_cast<std::size_t>(request.rope.pairs()), *rounded.format));
    if (options.json.empty()) return 0;
  }
  check_printable(request, 2 * request.rope.pairs(), fmt::format("{} pairs", request.rope.pairs()));
  const PrintedTable table = print_table(request, show);
  write_document(options.json.empty() ? "-" : options.json, options.json.empty()
                                                                ? to_text(request.rope, request, table)
                                                                : to_json(request.rope, request, table));
  return 0;
}

}  // namespace

Action add_table_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "table", "exact inv_freq, attention factor, cos and sin, slopes, buckets: correctly rounded");
  auto options = std::make_shared<Options>();
  verb->add_option("ENCODING", options->encoding,
                   "rope(dim=128,theta=500000), a path to a config.json, or a bundled model; #selector picks "
                   "one of several")
      ->required();
  verb->add_option(
          "--positions", options->positions,
          "0,1,17 or A:B (B excluded); negative ones are legal. Of t5 they are key - query, of deberta "
          "query - key; alibi needs none")
      ->capture_default_str();
  verb->add_option("--digits", options->digits, "significant digits of the decimals (default 20)");
  verb->add_option("--dtype", options->dtype, "print the nearest f32, f64, f16 or bf16 values instead");
  verb->add_option("--seq-len", options->seq_len,
                   "current length for dynamic and longrope (default: max position + 1)");
  verb->add_option(
      "--out", options->out,
      "write A cos and A sin, rounded to --dtype (default f32), to FILE.npy or FILE.safetensors");
  verb->add_flag("--bare", options->bare, "with --out: cos and sin without the attention factor");
  verb->add_option("--json", options->json, "write a JSON document to FILE, - for standard output");
  verb->footer(
      "cos and sin are printed bare; an exact zero prints 0. Examples:\n"
      "  sextant table llama-3.1-8b --positions 131071 --digits 40 --json -\n"
      "  sextant table \"rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))\" --positions 0:4\n"
      "  sextant table \"sinusoidal(dim=512)\" --positions 131071 --digits 40 --json -\n"
      "  sextant table gemma-3-4b#full_attention --positions 0:131072 --out table.safetensors");
  return [verb, options] { return verb->parsed() ? run(*options) : -1; };
}

}  // namespace sextant
