// sextant grade: which contracts a kernel keeps up to which position, and its error by stage.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "sextant/props/grade.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string encoding, kernel, positions, json, truth = "exact";
  std::optional<std::int64_t> seq_len;
  int threads = 0;
};

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json shares_of(const std::vector<StageShare>& shares, const char* value) {
  ordered_json list = ordered_json::array();
  for (const StageShare& share : shares) {
    list.push_back({{"stage", share.stage},
                    {"position", share.position},
                    {"pair", share.pair},
                    {"function", share.function}});
    list.back()[value] =
        std::isfinite(share.signed_share) ? ordered_json(share.signed_share) : ordered_json("nan");
  }
  return list;
}

std::string to_json(const Encoding& encoding, const Kernel& kernel, Truth truth, const Range& range,
                    const Grade& grade) {
  ordered_json contracts = ordered_json::array();
  for (const ContractGrade& contract : grade.contracts) {
    ordered_json broken = nullptr;
    if (contract.broken_at)
      broken = {{"position", contract.broken_at->position}, {"pair", contract.broken_at->pair}};
    contracts.push_back({{"name", contract.name},
                         {"up_to_position", or_null(contract.up_to_position)},
                         {"broken_at", broken},
                         {"no_claim_from", contract.no_claim_at ? ordered_json(contract.no_claim_at->position)
                                                                : ordered_json(nullptr)},
                         {"no_claim", contract.no_claim}});
  }
  const ordered_json document = {{"schema_version", 1},
                                 {"document", "grade"},
                                 {"encoding", to_string(encoding)},
                                 {"kernel", kernel.name},
                                 {"truth", to_string(truth)},
                                 {"positions", {{"begin", range.begin}, {"end", range.end}}},
                                 {"contracts", std::move(contracts)},
                                 {"stages", shares_of(grade.stages, "signed_share")},
                                 {"totals", shares_of(grade.totals, "signed_total")},
                                 {"stage_maxima", shares_of(grade.maxima, "signed_share")}};
  return document.dump(1) + "\n";
}

std::string to_text(const Encoding& encoding, const Kernel& kernel, const Range& range, const Grade& grade) {
  std::string text = fmt::format("{}\nkernel {}, tables of positions {}:{}\n\n", to_string(encoding),
                                 kernel.name, range.begin, range.end);
  for (const ContractGrade& contract : grade.contracts) {
    const bool whole = contract.up_to_position == range.end - 1;
    const std::string kept = whole ? "kept at every position"
                             : contract.up_to_position
                                 ? fmt::format("kept up to position {}", *contract.up_to_position)
                                 : "not kept at the first position";
    text += fmt::format("  {:<12} {}", contract.name, kept);
    if (contract.broken_at)
      text +=
          fmt::format(", broken by pair {} at {}", contract.broken_at->pair, contract.broken_at->position);
    if (contract.no_claim_at)
      text += fmt::format(", claims nothing of {} values from position {}", contract.no_claim,
                          contract.no_claim_at->position);
    text += "\n";
  }
  text +=
      "\nerror by stage at the worst point of each sampled position (the shares add up to the total "
      "exactly)\n";
  std::size_t next = 0;
  for (const StageShare& total : grade.totals) {
    text += fmt::format("  position {:>8} pair {:>4} {:<3}  total {:>+10.3e}  =", total.position, total.pair,
                        total.function, total.signed_share);
    for (; next < grade.stages.size() && grade.stages[next].position == total.position; ++next) {
      text += fmt::format("  {} {:+.3e}", grade.stages[next].stage, grade.stages[next].signed_share);
    }
    text += "\n";
  }
  text += "\nlargest share of each stage\n";
  for (const StageShare& most : grade.maxima) {
    text += fmt::format("  {:<22} {:+.3e}  at position {}, pair {}, {}\n", most.stage, most.signed_share,
                        most.position, most.pair, most.function);
  }
  return text;
}

int run(const Options& options) {
  const ResolvedEncoding resolved = resolve_encoding(options.encoding);
  print_warnings(resolved.warnings);
  const Rope& rope = rope_for("grade", resolved.encoding);
  const Range range = options.positions.empty() ? Range{0, context_of(rope, resolved.max_position)}
                                                : parse_range(options.positions);
  const std::int64_t seq_len = options.seq_len.value_or(std::max<std::int64_t>(range.end, 1));
  if (seq_len < 1 || seq_len > kMaxPosition + 1)
    throw InputError(fmt::format("--seq-len {}: a length from 1 to 2^40 is needed", seq_len));
  const Kernel kernel = find_kernel(options.kernel);
  if (options.truth != "exact" && options.truth != "frequency") {
    throw InputError(
        fmt::format("--truth {}: contracts judge tables against exact, or against the stored frequency",
                    options.truth.substr(0, 40)));
  }
  const Truth truth = options.truth == "exact" ? Truth::exact : Truth::frequency;
  if (truth == Truth::frequency && !kernel.frequencies)
    throw InputError(fmt::format("kernel {} offers no frequencies: --truth exact", kernel.name));
  check_sweepable(kernel, Operation::tables, rope, range);
  if (options.threads < 0 || options.threads > 1024)
    throw InputError(fmt::format("--threads {}: from 1 to 1024, or 0 for all cores", options.threads));
  check_outputs({options.json}, {options.encoding});
  const int threads = options.threads > 0
                          ? options.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Grade result;
  {
    Progress progress;
    result = grade(kernel, rope, seq_len, truth, range.begin, range.end, threads, [&](std::int64_t done) {
      progress.show(static_cast<std::size_t>(done), static_cast<std::size_t>(range.end - range.begin),
                    "positions");
    });
  }
  if (!options.json.empty())
    write_document(options.json, to_json(resolved.encoding, kernel, truth, range, result));
  print_text(to_text(resolved.encoding, kernel, range, result), options.json == "-");
  return 0;
}

}  // namespace

Action add_grade_verb(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "grade", "the contracts a kernel keeps and up to which position, and its error by stage");
  auto options = std::make_shared<Options>();
  verb->add_option("ENCODING", options->encoding, "text form, config.json or bundled model")->required();
  verb->add_option("--kernel", options->kernel, "the kernel to grade")->required();
  verb->add_option("--positions", options->positions, "A:B, B excluded (default: 0 to the declared context)");
  verb->add_option("--truth", options->truth,
                   "of the contracts: exact, or the exact value for the stored frequency")
      ->capture_default_str();
  verb->add_option("--seq-len", options->seq_len, "current length for dynamic and longrope (default: B)");
  verb->add_option("--threads", options->threads, "threads, 0 for all cores")->capture_default_str();
  verb->add_option("--json", options->json, "write the document to FILE, - for standard output");
  verb->footer(
      "Every position and pair is judged by each contract. Stages: frequency (stored frequencies for exact "
      "ones), angle (stored angles),\n"
      "trig (the table entry for the exact function of the stored angle), arithmetic (the rotation by the "
      "table). Example:\n"
      "  sextant grade llama-3.1-8b --kernel scalar");
  return [verb, options] { return verb->parsed() ? run(*options) : -1; };
}

}  // namespace sextant
