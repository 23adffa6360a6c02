// Calls of `encode` and the truth beside them.
#include "sextant/props/encode_law.hpp"

#include <optional>

namespace sextant {

const LearnedTable* table_of(const Case& c) {
  const auto* scheme = std::get_if<Learned>(&*c.encoding);
  if (scheme == nullptr) return nullptr;
  struct Kept {
    std::uint64_t seed;
    LearnedTable table;
  };
  thread_local std::optional<Kept> kept;
  if (!kept || kept->seed != c.seed || kept->table.dtype() != c.dtype || !(kept->table.scheme() == *scheme))
    kept.emplace(Kept{c.seed, LearnedTable(*scheme, c.seed, c.dtype)});
  return &kept->table;
}

std::vector<float> encoded(const Kernel& kernel, const EncodeRequest& request) {
  const std::size_t tokens = request.positions.size();
  const std::int64_t width = width_of(request.encoding);
  std::vector<std::int64_t> wide = request.positions;
  std::vector<std::int32_t> narrow(wide.begin(), wide.end()), mask = request.mask;
  const bool fits = tokens % 2 != 0 && std::equal(wide.begin(), wide.end(), narrow.begin());
  const Tensor positions =
      fits ? dense(narrow.data(), DType::i32, tokens) : dense(wide.data(), DType::i64, tokens);
  std::optional<Guarded> table;
  Tensor table_view;
  if (request.table != nullptr) {
    table.emplace(request.table->values(), request.dtype);
    table_view = dense(table->data(), request.dtype, request.table->scheme().rows, width);
    table_view.data =
        static_cast<std::byte*>(table_view.data) + static_cast<std::size_t>(width) * size_of(request.dtype);
  }
  Guarded rows(tokens * static_cast<std::size_t>(width), request.dtype);
  kernel.encode({request.encoding, positions,
                 mask.empty() ? Tensor{} : dense(mask.data(), DType::i32, mask.size()), table_view,
                 dense(rows.data(), request.dtype, tokens, width)});
  rows.check_margins("the rows");
  if (table) {
    table->check_margins("the table");
    table->check_unchanged("table");
  }
  if (!std::equal(wide.begin(), wide.end(), request.positions.begin()) ||
      (fits && !std::equal(wide.begin(), wide.end(), narrow.begin())) || mask != request.mask)
    throw Misbehaved("the kernel changed its input positions or padding_mask");
  return rows.content();
}

PairEntries pair_entries(const Sinusoidal& scheme, ExactRows& rows, const Bounds& bounds, const float* row,
                         std::int64_t position, std::int64_t pair) {
  const SinusoidColumns columns = sinusoid_columns(scheme, pair);
  const ExactRow& exact = rows.at(position);
  PairEntries entries{coordinate_of(scheme, axis_of(scheme, pair), position),
                      row[columns.sine],
                      columns.cosine < 0 ? 0 : row[columns.cosine],
                      exact.sin[static_cast<std::size_t>(pair)],
                      exact.cos[static_cast<std::size_t>(pair)],
                      {}};
  entries.at = bounds.pair(pair, entries.coordinate, entries.exact_cos.value(), entries.exact_sin.value());
  return entries;
}

namespace {

constexpr std::int64_t kWholeTable = std::int64_t{1} << 20;  // elements

/// The same offset, few enough elements for many cases, and rows enough for positions that float16 rounds.
Learned shortened(Learned scheme, std::uint64_t draw) {
  if (draw % 8 == 0 && scheme.rows <= kWholeTable / scheme.dim) return scheme;
  scheme.rows = std::min(scheme.rows, scheme.offset + 2100);
  if (scheme.dim > 64) scheme.dim = 32 + scheme.dim % 32;
  return scheme;
}

}  // namespace

std::optional<CaseSpace> encode_space(const std::optional<Encoding>& encoding, std::int64_t context,
                                      std::uint64_t draw) {
  if (!encoding) return std::nullopt;
  const auto* learned = std::get_if<Learned>(&*encoding);
  const auto* sinusoid = std::get_if<Sinusoidal>(&*encoding);
  if (learned == nullptr && sinusoid == nullptr) return std::nullopt;
  const Encoding drawn = learned ? Encoding(shortened(*learned, draw)) : *encoding;
  CaseSpace space = space_of(drawn, context);
  if (learned) {
    const auto& table = std::get<Learned>(drawn);
    space.context = table.rows - table.offset;
    space.max_position = space.context - 1;
  } else {
    space.max_position = std::min(space.max_position, positions_of(*sinusoid).last);
    space.negative_positions = !has_two_axes(sinusoid->layout);
  }
  space.head_dim = 2;  // there are no heads
  return space;
}

SameRows::SameRows(const Trial& trial)
    : trial_(trial),
      bitwise_(trial.contract.bits_exact || std::holds_alternative<Learned>(*trial.c.encoding)) {
  measure_.unit = bitwise_ ? "count" : "abs";
}

void SameRows::judge(std::int64_t position, const float* got, const float* want) {
  if (bitwise_) {
    for (std::int64_t j = 0; j < width_of(*trial_.c.encoding); ++j)
      measure_.take(same_bits_of(got[j], want[j]) ? 0 : 1, 0, {position, j, "column", got[j], want[j]});
    return;
  }
  const auto& scheme = std::get<Sinusoidal>(*trial_.c.encoding);
  ExactRows& rows = trial_.truths.rows(scheme);
  const Bounds& bounds = trial_.truths.bounds(trial_.contract, scheme);
  for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
    const PairEntries ours = pair_entries(scheme, rows, bounds, got, position, k);
    const PairEntries theirs = pair_entries(scheme, rows, bounds, want, position, k);
    const auto take = [&](float a, float b, double entry, const Wide& exact, const Wide& partner,
                          const char* function) {
      const ElementBound bound = bounds.table_entry(ours.at, entry, exact.value(), partner.value());
      if (!bound.claim) return measure_.skip();
      measure_.take(std::isfinite(a) ? std::fabs(double{a} - double{b}) : INFINITY, 2 * bound.absolute,
                    {position, k, function, a, b});
    };
    take(ours.sin, theirs.sin, ours.at.sin, ours.exact_sin, ours.exact_cos, "sin");
    if (k < whole_pairs(scheme))
      take(ours.cos, theirs.cos, ours.at.cos, ours.exact_cos, ours.exact_sin, "cos");
  }
}

}  // namespace sextant
