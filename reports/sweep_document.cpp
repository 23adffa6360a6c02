// Writing, reading and merging of sweep documents.
#include "sextant/reports/sweep_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sextant/fixtures/models/fields.hpp"
#include "sextant/props/suite.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/input.hpp"

namespace sextant {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr std::int64_t kMaxShards = 1000000;

const char* name_of(Function function) { return function == Function::cos ? "cos" : "sin"; }

ordered_json errors_of(const Errors& errors) {
  return {{"values", errors.values},           {"not_correctly_rounded", errors.not_correctly_rounded},
          {"undecided", errors.undecided},     {"nan", errors.nan},
          {"max_ulp", number(errors.max_ulp)}, {"mean_ulp", number(errors.mean_ulp())},
          {"max_abs", number(errors.max_abs)}, {"sum_ulp_2_16", hex_of(errors.sum)}};
}

/// Cosines and sines are judged, in ulp; those of a rotation are components, in pair_ulp.
bool is_of_entries(const std::string& operation) { return operation == "tables" || operation == "encode"; }

const char* measure_of(const std::string& operation) {
  if (operation == "buckets") return "count";
  return is_of_entries(operation) || operation == "bias" ? "ulp" : "pair_ulp";
}

/// The components of a rotated pair are a and b; in a tally they count as cos and sin.
const char* name_of(Function function, const std::string& operation) {
  if (operation == "bias") return "bias";
  if (operation == "buckets") return "bucket";
  if (!is_of_entries(operation)) return function == Function::cos ? "a" : "b";
  return name_of(function);
}

ordered_json witness_of(const std::optional<TallyWitness>& witness, const std::string& operation) {
  if (!witness) return nullptr;
  return {{"position", witness->position},
          {"pair", witness->pair},
          {"function", name_of(witness->function, operation)},
          {"got", number(witness->got)},
          {"want", number(witness->want)},
          {"ulp", number(witness->ulp)}};
}

ordered_json place_of(const std::optional<Place>& place) {
  if (!place) return nullptr;
  return {{"position", place->position}, {"pair", place->pair}, {"function", name_of(place->function)}};
}

/// The first position of an octave: 0, 1, 2, 4, ..
std::int64_t octave_first(std::size_t octave) { return octave == 0 ? 0 : std::int64_t{1} << (octave - 1); }

/// The command that looks at the witness alone.
ordered_json replay_of(const SweepDocument& d) {
  const std::optional<TallyWitness>& at =
      d.result.tally.first_nan ? d.result.tally.first_nan : d.result.tally.worst;
  if (!at || d.kernel.empty()) return nullptr;
  return fmt::format(
      "sextant sweep '{}' --kernel {} --operation {} --truth {} --seq-len {} --positions {}:{}{}", d.encoding,
      d.kernel, d.operation, d.truth, d.seq_len, at->position, at->position + 1, d.bare ? " --bare" : "");
}

/// Rotations and sweeps against stored angles have none.
bool has_position_error(const SweepDocument& d) { return is_of_entries(d.operation) && d.truth != "angle"; }

ordered_json worst_case_of(const SweepDocument& d) {
  if (!d.worst_case) return nullptr;
  const WorstCase& w = *d.worst_case;
  const Replay replay{"rope_elementwise", d.kernel, "exact-angle", false, Operation::rotate, w.replay};
  return {{"position", w.position},
          {"pair", w.pair},
          {"x_a", w.x_a},
          {"x_b", w.x_b},
          {"function", w.function},
          {"got", number(w.got)},
          {"want", number(w.want)},
          {"pair_ulp", number(w.pair_ulp)},
          {"replay", to_string(replay)}};
}

// ---- reading ----

Function function_at(const json& object, const std::string& file) {
  const std::string name = text_at(object, "function", file);
  if (name == "cos" || name == "a" || name == "bias" || name == "bucket") return Function::cos;
  if (name == "sin" || name == "b") return Function::sin;
  refuse(file, "function is none of cos, sin, a, b, bias, bucket");
}

Errors errors_in(const json& object, const std::string& file) {
  Errors errors;
  errors.values = integer_at<std::uint64_t>(object, "values", file);
  errors.not_correctly_rounded = integer_at<std::uint64_t>(object, "not_correctly_rounded", file);
  errors.undecided = integer_at<std::uint64_t>(object, "undecided", file);
  errors.nan = integer_at<std::uint64_t>(object, "nan", file);
  errors.max_ulp = number_at(object, "max_ulp", file);
  errors.max_abs = number_at(object, "max_abs", file);
  if (!(errors.max_ulp >= 0) || !(errors.max_abs >= 0)) refuse(file, "a maximum is negative");
  hex_at(object, "sum_ulp_2_16", file, errors.sum.high, errors.sum.low);
  return errors;
}

std::optional<TallyWitness> witness_in(const json& object, const std::string& file) {
  if (object.is_null()) return std::nullopt;
  return TallyWitness{integer_at<std::int64_t>(object, "position", file),
                      integer_at<std::int64_t>(object, "pair", file),
                      function_at(object, file),
                      number_at(object, "got", file),
                      number_at(object, "want", file),
                      number_at(object, "ulp", file)};
}

std::optional<Place> place_in(const json& object, const std::string& file) {
  if (object.is_null()) return std::nullopt;
  return Place{integer_at<std::int64_t>(object, "position", file),
               integer_at<std::int64_t>(object, "pair", file), function_at(object, file)};
}

Range range_in(const json& object, const std::string& file) {
  return {integer_at<std::int64_t>(object, "begin", file), integer_at<std::int64_t>(object, "end", file)};
}

/// Counts, places and maxima that one sweep can have had.
void check_consistent(const SweepDocument& d, const std::string& file) {
  const auto unsound = [&](bool is, const char* what) {
    if (is) refuse(file, fmt::format("{} cannot be of such a sweep", what));
  };
  const Encoding encoding = parse_encoding(d.encoding);
  const std::int64_t pairs = sweep_pairs(encoding);
  unsound(d.positions.begin < -kMaxPosition || d.positions.end > kMaxPosition + 1, "positions");
  const Range range =
      d.shard ? shard_of(d.positions.begin, d.positions.end, d.shard->index, d.shard->count) : d.positions;
  const Tally& tally = d.result.tally;
  const Errors& all = tally.all;
  // A checkpoint holds a part of its range; everything else all of it.
  const auto most = static_cast<std::uint64_t>((range.end - range.begin) * pairs);
  unsound(tally.points > most, "points");
  const std::uint64_t values =
      tally.points / static_cast<std::uint64_t>(pairs) * static_cast<std::uint64_t>(sweep_values(encoding));
  unsound(all.values != values && all.values != 2 * values, "values");
  for (const Errors& errors : tally.octaves) {
    unsound(errors.nan > errors.values || errors.undecided > errors.values ||
                errors.not_correctly_rounded > errors.values,
            "an octave's counts");
  }
  unsound(d.result.no_claim < 0 || static_cast<std::uint64_t>(d.result.no_claim) > all.values, "no_claim");
  unsound(d.result.broken < 0 || static_cast<std::uint64_t>(d.result.broken) > all.values, "contract.broken");
  unsound(!(d.result.position_error >= 0), "position_error");
  unsound(d.audit.points > most, "audit.points");
  unsound(tally.worst && tally.worst->ulp != all.max_ulp, "the witness's ulp");
  const auto outside = [&](const auto& place) {
    return place && (place->position < range.begin || place->position >= range.end || place->pair < 0 ||
                     place->pair >= pairs);
  };
  unsound(outside(tally.worst) || outside(tally.first_nan) || outside(d.result.position_error_at) ||
              outside(d.result.first_broken),
          "a witness's place");
}

}  // namespace

std::string to_json(const SweepDocument& d) {
  const Tally& tally = d.result.tally;
  ordered_json octaves = ordered_json::array();
  for (std::size_t octave = 0; octave < tally.octaves.size(); ++octave) {
    if (tally.octaves[octave].values == 0) continue;
    ordered_json entry = errors_of(tally.octaves[octave]);
    ordered_json line = {{"octave", octave}, {"first", octave_first(octave)}};
    line.update(entry);
    octaves.push_back(std::move(line));
  }
  ordered_json document = {
      {"schema_version", kSchemaVersion},
      {"document", "sweep"},
      {"encoding", d.encoding},
      {"kernel", d.kernel.empty() ? ordered_json(nullptr) : ordered_json(d.kernel)},
      {"table", d.table.empty() ? ordered_json(nullptr) : ordered_json(d.table)},
      {"operation", d.operation},
      {"truth", d.truth},
      {"dtype", d.dtype},
      {"bare", d.bare},
      {"seq_len", d.seq_len},
      {"positions", {{"begin", d.positions.begin}, {"end", d.positions.end}}},
      {"shard",
       d.shard ? ordered_json{{"index", d.shard->index}, {"count", d.shard->count}} : ordered_json(nullptr)},
      {"measure", measure_of(d.operation)},
      {"points", tally.points},
      {"values", tally.all.values},
      {"max_ulp", number(tally.all.max_ulp)},
      {"mean_ulp", number(tally.all.mean_ulp())},
      {"max_abs", number(tally.all.max_abs)},
      {"not_correctly_rounded", tally.all.not_correctly_rounded},
      {"undecided", tally.all.undecided},
      {"nan", tally.all.nan},
      {"no_claim", d.result.no_claim},
      {"position_error", has_position_error(d) ? number(d.result.position_error) : ordered_json(nullptr)},
      {"position_error_at", place_of(d.result.position_error_at)},
      {"contract", d.contract ? ordered_json{{"name", *d.contract},
                                             {"broken", d.result.broken},
                                             {"first_broken", place_of(d.result.first_broken)}}
                              : ordered_json(nullptr)},
      {"witness", witness_of(tally.worst, d.operation)},
      {"first_nan", witness_of(tally.first_nan, d.operation)},
      {"replay", replay_of(d)},
      {"worst_case", worst_case_of(d)},
      {"by_octave", std::move(octaves)},
      {"audit", {{"points", d.audit.points}, {"kept", d.audit.kept()}}},
  };
  const bool timed = d.seconds > 0;
  document["points_per_second"] =
      timed ? ordered_json(static_cast<double>(tally.points) / d.seconds) : ordered_json(nullptr);
  document["threads"] = timed ? ordered_json(d.threads) : ordered_json(nullptr);
  return document.dump(1) + "\n";
}

SweepDocument parse_sweep(std::string_view text, const std::string& file) {
  const json document = parse_document(text, file);
  if (!document.is_object() || document.value("document", json()) != "sweep")
    refuse(file, "this is no sweep document");
  if (document.value("schema_version", json()) != kSchemaVersion) refuse(file, "schema_version is another");
  SweepDocument d;
  const auto optional_text = [&](const char* key) {
    return at(document, key, file).is_null() ? std::string() : text_at(document, key, file);
  };
  d.encoding = text_at(document, "encoding", file);
  d.kernel = optional_text("kernel");
  d.table = optional_text("table");
  d.operation = text_at(document, "operation", file);
  d.truth = text_at(document, "truth", file);
  d.dtype = text_at(document, "dtype", file);
  d.bare = flag_at(document, "bare", file);
  d.seq_len = integer_at<std::int64_t>(document, "seq_len", file);
  d.positions = range_in(at(document, "positions", file), file);
  if (d.positions.begin >= d.positions.end) refuse(file, "positions are empty or reversed");
  if (const json& shard = at(document, "shard", file); !shard.is_null()) {
    d.shard =
        Shard{integer_at<std::int64_t>(shard, "index", file), integer_at<std::int64_t>(shard, "count", file)};
    if (d.shard->count < 1 || d.shard->index < 0 || d.shard->index >= d.shard->count)
      refuse(file, "shard lies outside its count");
  }
  Tally& tally = d.result.tally;
  tally.points = integer_at<std::uint64_t>(document, "points", file);
  for (const json& entry : list_at(document, "by_octave", file)) {
    const auto octave = integer_at<std::uint64_t>(entry, "octave", file);
    if (octave >= tally.octaves.size() || tally.octaves[octave].values > 0)
      refuse(file, "an octave is out of range or stands twice");
    const Errors errors = errors_in(entry, file);
    tally.octaves[octave] += errors;
    tally.all += errors;
  }
  tally.worst = witness_in(at(document, "witness", file), file);
  tally.first_nan = witness_in(at(document, "first_nan", file), file);
  d.result.no_claim = integer_at<std::int64_t>(document, "no_claim", file);
  if (!at(document, "position_error", file).is_null())
    d.result.position_error = number_at(document, "position_error", file);
  d.result.position_error_at = place_in(at(document, "position_error_at", file), file);
  if (const json& contract = at(document, "contract", file); !contract.is_null()) {
    d.contract = text_at(contract, "name", file);
    d.result.broken = integer_at<std::int64_t>(contract, "broken", file);
    d.result.first_broken = place_in(at(contract, "first_broken", file), file);
  }
  const json& audit = at(document, "audit", file);
  d.audit.points = integer_at<std::uint64_t>(audit, "points", file);
  d.audit.worst_share = flag_at(audit, "kept", file) ? 0 : 2;
  check_consistent(d, file);
  return d;
}

SweepDocument merge_sweeps(std::vector<SweepDocument> shards, const std::vector<std::string>& files) {
  const auto same_sweep = [](const SweepDocument& a, const SweepDocument& b) {
    return a.encoding == b.encoding && a.kernel == b.kernel && a.table == b.table &&
           a.operation == b.operation && a.truth == b.truth && a.dtype == b.dtype && a.bare == b.bare &&
           a.seq_len == b.seq_len && a.positions == b.positions && a.contract == b.contract;
  };
  std::vector<bool> seen;
  SweepDocument whole;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const SweepDocument& part = shards[i];
    if (!part.shard) refuse(files[i], "it is no shard but a whole sweep");
    const Range range =
        shard_of(part.positions.begin, part.positions.end, part.shard->index, part.shard->count);
    const std::int64_t pairs = sweep_pairs(parse_encoding(part.encoding));
    if (part.result.tally.points != static_cast<std::uint64_t>((range.end - range.begin) * pairs))
      refuse(files[i], "its points are not those of its shard");
    if (i == 0) {
      whole = part;
      seen.assign(static_cast<std::size_t>(part.shard->count), false);
    } else {
      if (!same_sweep(shards[0], part)) {
        throw InputError(fmt::format(
            "{} and {} are of different sweeps: encoding, kernel, truth, positions and options must agree",
            files[0], files[i]));
      }
      if (part.shard->count != shards[0].shard->count) {
        throw InputError(fmt::format("{} is of {} shards, {} of {}", files[0], shards[0].shard->count,
                                     files[i], part.shard->count));
      }
      whole.result += part.result;
      whole.audit += part.audit;
    }
    const auto index = static_cast<std::size_t>(part.shard->index);
    if (seen[index]) throw InputError(fmt::format("{}: shard {} stands twice", files[i], index));
    seen[index] = true;
  }
  const auto gap = std::find(seen.begin(), seen.end(), false);
  if (gap != seen.end()) {
    throw InputError(fmt::format("shard {} of {} is missing; run it with --shard {}/{}", gap - seen.begin(),
                                 seen.size(), gap - seen.begin(), seen.size()));
  }
  whole.shard.reset();
  whole.seconds = 0;
  return whole;
}

int exit_status(const SweepDocument& d) {
  const Errors& all = d.result.tally.all;
  return all.undecided > 0 || all.nan > 0 || d.result.broken > 0 || !d.audit.kept() ? 1 : 0;
}

std::string to_text(const SweepDocument& d) {
  const Tally& tally = d.result.tally;
  const char* unit = measure_of(d.operation);
  std::string text = fmt::format(
      "{}\n{} {}, {} of positions {}:{}{}, truth {}\n\n", d.encoding, d.kernel.empty() ? "table" : "kernel",
      d.kernel.empty() ? d.table : d.kernel, d.operation, d.positions.begin, d.positions.end,
      d.shard ? fmt::format(", shard {}/{}", d.shard->index, d.shard->count) : "", d.truth);
  const std::string position_error =
      has_position_error(d) ? fmt::format("   position error {:.3g}", d.result.position_error) : "";
  text += fmt::format("points {}   max {:.6g} {}   mean {:.6g} {}   max |error| {:.3g}{}\n", tally.points,
                      tally.all.max_ulp, unit, tally.all.mean_ulp(), unit, tally.all.max_abs, position_error);
  text += fmt::format("not correctly rounded {} of {}   undecided {}   NaN {}\n",
                      tally.all.not_correctly_rounded, tally.all.values, tally.all.undecided, tally.all.nan);
  if (d.contract) {
    text += fmt::format("contract {}: {} values beyond it, {} without claim{}\n", *d.contract,
                        d.result.broken, d.result.no_claim,
                        d.result.first_broken
                            ? fmt::format("; first at position {}, pair {}", d.result.first_broken->position,
                                          d.result.first_broken->pair)
                            : "");
  }
  const auto show = [&](const char* what, const std::optional<TallyWitness>& w) {
    if (!w) return;
    text +=
        fmt::format("{}: position {}, pair {}, {}: got {:.9g}, nearest {:.9g}, {:.6g} {}\n", what,
                    w->position, w->pair, name_of(w->function, d.operation), w->got, w->want, w->ulp, unit);
  };
  show("worst", tally.worst);
  show("first NaN", tally.first_nan);
  if (d.worst_case) {
    const WorstCase& w = *d.worst_case;
    text += fmt::format(
        "worst case: position {}, pair {}, x = ({:.9g}, {:.9g}), {}: got {:.9g}, want {:.17g}, {:.6g} "
        "pair_ulp\n",
        w.position, w.pair, w.x_a, w.x_b, w.function, w.got, w.want, w.pair_ulp);
  }
  text += fmt::format("\n{:>14} {:>14} {:>12} {:>12} {:>16}\n", "position from", fmt::format("max {}", unit),
                      fmt::format("mean {}", unit), "max |error|", "not corr. rounded");
  for (std::size_t octave = 0; octave < tally.octaves.size(); ++octave) {
    const Errors& errors = tally.octaves[octave];
    if (errors.values == 0) continue;
    text += fmt::format("{:>14} {:>14.6g} {:>12.4g} {:>12.3g} {:>16}\n", octave_first(octave), errors.max_ulp,
                        errors.mean_ulp(), errors.max_abs, errors.not_correctly_rounded);
  }
  text +=
      fmt::format("\naudit: {} points against MPFR, {}", d.audit.points,
                  d.audit.kept() ? "all within the proved bounds" : "BOUND BROKEN: do not trust this sweep");
  if (d.seconds > 0) {
    text += fmt::format("; {:.3g} points/s on {} threads, {:.2f} s",
                        static_cast<double>(tally.points) / d.seconds, d.threads, d.seconds);
  }
  return text + "\n";
}

}  // namespace sextant
