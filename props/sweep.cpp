// Sweeping in blocks: a kernel fills a block, the oracle judges it, tallies merge.
//
// What is guaranteed: every count, maximum and sum is that of the exact truth, so that threads, blocks and
// shards give the same bytes. The oracle's check has this for tables (reference/oracle). For rotations and
// for the position error it is had here: a double value within its proved bound decides wherever the bound
// allows, and double-double decides the rest.
#include "sextant/props/sweep.hpp"

#include "sextant/props/sweep_judge.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <system_error>
#include <thread>

#include "sextant/fixtures/generators/case.hpp"
#include "sextant/props/call.hpp"
#include "sextant/reference/bits.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/oracle.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/sinusoidal.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

using Buffers = SweepBuffers;
using Block = SweepBlock;

/// Everything that a block needs and that does not change within a span.
struct Judge : TableJudge {
  const SweepSubject& subject;
  Wide factor;
};

std::int64_t block_rows(const Rope& rope) { return std::max<std::int64_t>(1, kBlockValues / rope.pairs()); }

/// The kernel's tables of `rows` positions from `first`.
Block kernel_block(const Judge& judge, std::int64_t first, std::int64_t rows, Buffers& buffers) {
  const Rope& rope = judge.subject.rope;
  const Kernel& kernel = *judge.subject.kernel;
  const TableForm form = kernel.capabilities.forms.front();
  const std::int64_t width = row_width(form, rope.pairs());
  const auto count = static_cast<std::size_t>(rows);
  buffers.positions.resize(count);
  for (std::size_t r = 0; r < count; ++r) buffers.positions[r] = first + static_cast<std::int64_t>(r);
  buffers.cos.assign(count * static_cast<std::size_t>(width), NAN);
  if (!holds_both(form)) buffers.sin.assign(buffers.cos.size(), NAN);
  const auto view = [&](std::vector<float>& data) {
    return form == TableForm::polar ? dense(data.data(), DType::f32, rows, width / 2, 2)
                                    : dense(data.data(), DType::f32, rows, width);
  };
  const Encoding encoding = rope;
  kernel.tables({encoding, judge.subject.seq_len, dense(buffers.positions.data(), DType::i64, rows), form,
                 view(buffers.cos), holds_both(form) ? Tensor{} : view(buffers.sin)});
  const TableSlots slots = table_slots(form, rope.pairs(), 0);
  const std::int64_t step = rope.pairs() > 1 ? table_slots(form, rope.pairs(), 1).cos - slots.cos : 1;
  const std::vector<float>& sin = holds_both(form) ? buffers.cos : buffers.sin;
  return {{buffers.cos.data() + slots.cos, width, step}, {sin.data() + slots.sin, width, step}, &kFloat32};
}

Block file_block(const Judge& judge, std::int64_t first, const TableFile::View& cos,
                 const TableFile::View& sin) {
  const TableFile& table = *judge.subject.table;
  const std::int64_t width = table.format().precision == 24 ? 4 : 2;
  const auto at = [&](const TableFile::View& view) -> GivenTable {
    const auto* bytes = static_cast<const std::byte*>(view.data) +
                        (first - judge.subject.table_begin) * view.row_step * width;
    return {bytes, view.row_step, view.pair_step};
  };
  return {at(cos), at(sin), &table.format()};
}

double element(const GivenTable& table, const Format& format, std::int64_t row, std::int64_t pair) {
  const std::int64_t at = row * table.row_step + pair * table.pair_step;
  if (format.precision == kFloat32.precision) return static_cast<const float*>(table.data)[at];
  return value_of_bits(static_cast<const std::uint16_t*>(table.data)[at], format);
}

/// Angle between an entry taken as a vector and the truth, over w, in positions. With x the sine of that
/// angle, 0 <= x <= 1, an acute angle is at most x (1 + (pi/2 - 1) x^2), since asin(x)/x - 1 grows faster
/// than x^2; any angle is at most pi. What these bounds cannot rule out is evaluated in double-double.
void take_position_error(const TableJudge& judge, const Block& block, std::int64_t first, std::int64_t rows,
                         const Buffers& buffers, SweepTally& tally) {
  constexpr double kPi = std::numbers::pi;
  const std::int64_t pairs = judge.oracle.pairs();
  const double factor = judge.oracle.attention_factor();
  // Doubles within e of the truth move cross and dot by 2 e |entry| at most, and rounding by less than as
  // much again.
  const double slack = 8 * judge.oracle.bound() / factor;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const double w = judge.inv_freq[static_cast<std::size_t>(k)];
      const double c = element(block.cos, *block.format, r, k);
      const double s = element(block.sin, *block.format, r, k);
      const auto at = static_cast<std::size_t>(r * pairs + k);
      const double length = std::sqrt(c * c + s * s) * factor;
      if (w == 0 || !(length > 0) || !std::isfinite(length)) continue;
      const double exact_c = buffers.exact_cos[at];
      const double exact_s = buffers.exact_sin[at];
      const double x = std::min(std::fabs(s * exact_c - c * exact_s) / length + slack, 1.0);
      const bool acute = c * exact_c + s * exact_s > slack * length;
      const double most = acute ? x * (1 + (kPi / 2 - 1) * x * x) : kPi;
      if (most * (1 + 0x1p-40) < tally.position_error * w) continue;
      const Oracle::WidePair exact = judge.oracle.wide(first + r, k);
      const double cross = std::fabs((Wide(s) * exact.cos - Wide(c) * exact.sin).value());
      const double dot = (Wide(c) * exact.cos + Wide(s) * exact.sin).value();
      const double error = std::atan2(cross, dot) / w;
      const Place place{first + r, k, Function::cos};
      const bool earlier = !tally.position_error_at || place < *tally.position_error_at;
      if (error > tally.position_error || (error == tally.position_error && earlier)) {
        tally.position_error = error;
        tally.position_error_at = place;
      }
    }
  }
}

void take_contract(const TableJudge& judge, const Block& block, std::int64_t first, std::int64_t rows,
                   const Buffers& buffers, SweepTally& tally) {
  const Bounds& bounds = *judge.bounds;
  const std::int64_t pairs = judge.oracle.pairs();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const auto at = static_cast<std::size_t>(r * pairs + k);
      const double c = buffers.exact_cos[at];
      const double s = buffers.exact_sin[at];
      const PairBound pair = bounds.pair(judge.first_pair + k, first + r, c, s);
      const auto take = [&](double got, double want, double partner, double entry, Function function) {
        const ElementBound bound = bounds.table_entry(pair, entry, want, partner);
        const Place place{first + r, k, function};
        if (!bound.claim) {
          ++tally.no_claim;
          if (!tally.first_no_claim || place < *tally.first_no_claim) tally.first_no_claim = place;
          return;
        }
        if (std::fabs(got - want) <= bound.absolute) return;
        // The inflation of bounds (2^-40) covers the oracle's own error: this is a breach, NaN included.
        ++tally.broken;
        if (!tally.first_broken || place < *tally.first_broken) tally.first_broken = place;
      };
      if (block.cos.data) take(element(block.cos, *block.format, r, k), c, s, pair.cos, Function::cos);
      take(element(block.sin, *block.format, r, k), s, c, pair.sin, Function::sin);
    }
  }
}

}  // namespace

void judge_table(const TableJudge& judge, const SweepBlock& block, std::int64_t first, std::int64_t rows,
                 SweepBuffers& buffers, SweepTally& tally) {
  tally.tally += judge.oracle.check(first, rows, *block.format, block.cos, block.sin);
  const auto size = static_cast<std::size_t>(rows * judge.oracle.pairs());
  buffers.exact_cos.resize(size);
  buffers.exact_sin.resize(size);
  judge.oracle.rows(first, rows, buffers.exact_cos.data(), buffers.exact_sin.data());
  if (block.cos.data) take_position_error(judge, block, first, rows, buffers, tally);
  if (judge.bounds) take_contract(judge, block, first, rows, buffers, tally);
}

namespace {

/// |error| / max(u N, half the least subnormal) in units of 2^-16, rounded to nearest: n is right iff
/// (n - 1/2)^2 unit^2 <= error^2 < (n + 1/2)^2 unit^2, which double-double squares decide (relative error
/// 2^-99). From 2^50 units on, doubles are as sparse as units, and the double quotient stands.
UlpSum pair_units(const Wide& error, const Wide& norm_squared) {
  constexpr double kUnit = 0x1p-24 / UlpSum::kUnitsPerUlp;
  const double least = 0x1p-150 / UlpSum::kUnitsPerUlp;
  const Wide unit_squared = norm_squared.hi * kUnit * kUnit > least * least
                                ? norm_squared * Wide(kUnit * kUnit)
                                : Wide(least * least);
  const double units = std::fabs(error.value()) / std::sqrt(unit_squared.hi);
  if (!(units < 0x1p50)) return UlpSum::from_ulp(units / UlpSum::kUnitsPerUlp);
  double nearest = std::nearbyint(units);
  const Wide squared = error * error;
  const auto beyond = [&](double edge) {
    return (squared - Wide(edge) * Wide(edge) * unit_squared).value() >= 0;
  };
  while (beyond(nearest + 0.5)) ++nearest;
  while (nearest > 0 && !beyond(nearest - 0.5)) --nearest;
  return UlpSum::from_units(static_cast<std::uint64_t>(nearest));
}

/// Rotates by the correctly rounded float32 tables of the block, left in buffers.cos and .sin [rows, pairs],
/// in the kernel's first form.
void rotate_by_perfect_tables(const Judge& judge, const RotateCall& call, std::int64_t first,
                              std::int64_t rows, Buffers& buffers) {
  const Rope& rope = judge.subject.rope;
  const std::int64_t pairs = rope.pairs();
  buffers.cos.resize(static_cast<std::size_t>(rows * pairs));
  buffers.sin.resize(buffers.cos.size());
  judge.oracle.produce(first, rows, kFloat32, {buffers.cos.data(), pairs, 1}, {buffers.sin.data(), pairs, 1});
  const TableForm form = judge.subject.kernel->capabilities.forms.front();
  const std::int64_t width = row_width(form, pairs);
  std::vector<float> cos(static_cast<std::size_t>(rows * width)), sin(holds_both(form) ? 0 : cos.size());
  std::vector<float>& sin_table = holds_both(form) ? cos : sin;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const TableSlots slots = table_slots(form, pairs, k);
      for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
        const std::int64_t row = r * width + copy * slots.copy_step;
        cos[static_cast<std::size_t>(row + slots.cos)] = buffers.cos[static_cast<std::size_t>(r * pairs + k)];
        sin_table[static_cast<std::size_t>(row + slots.sin)] =
            buffers.sin[static_cast<std::size_t>(r * pairs + k)];
      }
    }
  }
  const auto view = [&](std::vector<float>& data) {
    if (data.empty()) return Tensor{};
    return form == TableForm::polar ? dense(data.data(), DType::f32, rows, pairs, 2)
                                    : dense(data.data(), DType::f32, rows, width);
  };
  judge.subject.kernel->rotate_with_tables({call, form, view(cos), view(sin)});
}

/// Errors of a rotated block in pair_ulp, in the units and with the ties of tables: component a counts as
/// cos, b as sin.
void judge_rotation(const Judge& judge, std::int64_t first, std::int64_t rows, Buffers& buffers,
                    SweepTally& tally) {
  const Rope& rope = judge.subject.rope;
  const Kernel& kernel = *judge.subject.kernel;
  const std::int64_t pairs = rope.pairs();
  const auto size = static_cast<std::size_t>(rows * rope.head_dim);
  buffers.positions.resize(static_cast<std::size_t>(rows));
  buffers.x.resize(size);
  buffers.y.assign(size, NAN);
  for (std::int64_t r = 0; r < rows; ++r) {
    buffers.positions[static_cast<std::size_t>(r)] = first + r;
    for (std::int64_t c = 0; c < rope.head_dim; ++c) {
      buffers.x[static_cast<std::size_t>(r * rope.head_dim + c)] = rotation_input(first + r, c);
    }
  }
  const Encoding encoding = rope;
  const auto view = [&](std::vector<float>& data) {
    return dense(data.data(), DType::f32, 1, rows, 1, rope.head_dim);
  };
  const bool given = judge.subject.operation == Operation::rotate_with_tables;
  const RotateCall call{encoding,
                        judge.subject.seq_len,
                        Layout::bshd,
                        given ? Tensor{} : dense(buffers.positions.data(), DType::i64, rows),
                        view(buffers.x),
                        {},
                        {},
                        view(buffers.y),
                        {},
                        {},
                        {},
                        0};
  if (given) {
    rotate_by_perfect_tables(judge, call, first, rows, buffers);
  } else {
    kernel.rotate(call);
  }
  // The truth of a rotation by given tables is the exact rotation by what they hold.
  const auto turn_at = [&](std::int64_t r, std::int64_t k) -> Oracle::WidePair {
    if (judge.subject.truth != Truth::table) return judge.oracle.wide(first + r, k);
    const auto at = static_cast<std::size_t>(r * pairs + k);
    return {Wide(double{buffers.cos[at]}), Wide(double{buffers.sin[at]})};
  };

  const Wide factor_squared = judge.factor * judge.factor;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t position = first + r;
    const float* x = buffers.x.data() + r * rope.head_dim;
    const float* y = buffers.y.data() + r * rope.head_dim;
    Errors errors;
    for (std::int64_t k = 0; k < pairs; ++k) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, k);
      const double x_a = x[at.in_a];
      const double x_b = x[at.in_b];
      const Wide norm_squared = (two_product(x_a, x_a) + two_product(x_b, x_b)) * factor_squared;
      const Oracle::WidePair turn = turn_at(r, k);
      const Pair<Wide> want =
          rotate_pair(Wide(x_a), Wide(x_b), turn.cos, rope.direction < 0 ? -turn.sin : turn.sin);
      const auto take = [&](double got, const Wide& exact, Function function) {
        ++errors.values;
        if (std::isnan(got)) {
          ++errors.nan;
          ++errors.not_correctly_rounded;
          tally.tally.offer_nan({position, k, function, got, exact.value(), NAN});
          return;
        }
        const Wide error = abs(Wide(got) - exact);
        errors.not_correctly_rounded += (error - Wide(ulp_of(exact.value(), kFloat32) / 2)).value() > 0;
        const UlpSum units = pair_units(error, norm_squared);
        errors.sum += units;
        errors.max_abs = std::max(errors.max_abs, error.value());
        errors.max_ulp = std::max(errors.max_ulp, units.ulp());
        tally.tally.offer_worst({position, k, function, got, round_to(exact.value(), kFloat32), units.ulp()});
      };
      take(y[at.out_a], want.a, Function::cos);
      take(y[at.out_b], want.b, Function::sin);
    }
    tally.tally.points += static_cast<std::uint64_t>(pairs);
    tally.tally.all += errors;
    tally.tally.octaves[static_cast<std::size_t>(octave_of(position))] += errors;
  }
}

/// The truth of stored angles: each row's float32 angles as frequencies at position 1. No lattice, so no
/// tables.
void judge_angles(const SweepSubject& subject, const Block& block, std::int64_t first, std::int64_t rows,
                  double factor, SweepTally& tally) {
  const std::int64_t pairs = subject.rope.pairs();
  std::vector<float> angles(static_cast<std::size_t>(pairs), NAN);
  const Encoding encoding = subject.rope;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t position = first + r;
    subject.kernel->angles({encoding, subject.seq_len, dense(&position, DType::i64, 1),
                            dense(angles.data(), DType::f32, 1, pairs)});
    std::vector<float> magnitudes = angles;
    for (float& angle : magnitudes) angle = std::fabs(angle);
    const Oracle oracle = Oracle::from_stored(magnitudes, factor, 0, 0);
    const auto* cos = static_cast<const float*>(block.cos.data) + r * block.cos.row_step;
    const auto* sin = static_cast<const float*>(block.sin.data) + r * block.sin.row_step;
    std::vector<float> turned(static_cast<std::size_t>(pairs));
    for (std::int64_t k = 0; k < pairs; ++k) {
      const float value = sin[k * block.sin.pair_step];
      turned[static_cast<std::size_t>(k)] = angles[static_cast<std::size_t>(k)] < 0 ? -value : value;
    }
    Tally row = oracle.check(1, 1, kFloat32, {cos, block.cos.row_step, block.cos.pair_step},
                             {turned.data(), pairs, 1});
    // The oracle saw position 1: the tally belongs to `position`.
    Tally moved;
    moved.points = row.points;
    moved.all = row.all;
    moved.octaves[static_cast<std::size_t>(octave_of(position))] = row.all;
    const auto move = [&](std::optional<TallyWitness> witness) {
      if (!witness) return witness;
      witness->position = position;
      if (witness->function == Function::sin && angles[static_cast<std::size_t>(witness->pair)] < 0) {
        witness->got = -witness->got;
        witness->want = -witness->want;
      }
      return witness;
    };
    moved.worst = move(row.worst);
    moved.first_nan = move(row.first_nan);
    tally.tally += moved;
  }
}

void sweep_block(const Judge& judge, std::int64_t first, std::int64_t rows, double stored_factor,
                 Buffers& buffers, SweepTally& tally) {
  const SweepSubject& subject = judge.subject;
  if (subject.table) {
    judge_table(judge, file_block(judge, first, subject.table->cos(), subject.table->sin()), first, rows,
                buffers, tally);
    if (subject.table->second_cos()) {
      // The second copy of a duplicated or repeated table: judged as well, its points counted once.
      SweepTally copy;
      judge_table(judge, file_block(judge, first, *subject.table->second_cos(), *subject.table->second_sin()),
                  first, rows, buffers, copy);
      copy.tally.points = 0;
      tally += copy;
    }
    return;
  }
  if (subject.operation != Operation::tables) return judge_rotation(judge, first, rows, buffers, tally);
  const Block block = kernel_block(judge, first, rows, buffers);
  if (subject.truth == Truth::angle) return judge_angles(subject, block, first, rows, stored_factor, tally);
  judge_table(judge, block, first, rows, buffers, tally);
}

struct Stored {
  std::vector<float> inv_freq;
  double factor = 1;
};

/// The frequencies and the factor that the subject stores, for the truths that are about them.
Stored stored_of(const SweepSubject& subject) {
  Stored stored;
  if (subject.truth == Truth::exact || subject.truth == Truth::table) return stored;
  stored.factor = exact_frequencies(subject.rope, subject.seq_len).attention_factor.value();
  if (subject.table) {
    if (!subject.table->inv_freq())
      throw InputError("--truth frequency needs the tensor inv_freq in the table file");
    stored.inv_freq = *subject.table->inv_freq();
  } else {
    if (!subject.kernel->frequencies) throw InputError("--truth needs a kernel that offers frequencies");
    const KernelFrequencies kernels = kernel_frequencies(*subject.kernel, subject.rope, subject.seq_len);
    stored.inv_freq = kernels.inv_freq;
    stored.factor = kernels.attention_factor;
  }
  if (subject.bare) stored.factor = 1;
  return stored;
}

Oracle oracle_of(const SweepSubject& subject, const Stored& stored, std::int64_t begin, std::int64_t end) {
  if (subject.truth == Truth::frequency || subject.truth == Truth::angle)
    return Oracle::from_stored(stored.inv_freq, stored.factor, begin, end);
  const Rope rope = subject.bare ? without_attention_factor(subject.rope) : subject.rope;
  return {rope, subject.seq_len, begin, end};
}

}  // namespace

std::int64_t SweepSubject::pairs() const {
  if (by_distance) return sweep_pairs(*by_distance);
  return sinusoid ? sinusoid_pairs(*sinusoid) : rope.pairs();
}

bool is_by_distance(const Encoding& encoding) {
  return concerns(Operation::bias, encoding) || concerns(Operation::buckets, encoding);
}

std::int64_t sweep_pairs(const Encoding& encoding) {
  if (const auto* scheme = std::get_if<Sinusoidal>(&encoding)) return sinusoid_pairs(*scheme);
  if (const auto* rope = std::get_if<Rope>(&encoding)) return rope->pairs();
  if (const auto* alibi = std::get_if<Alibi>(&encoding)) return alibi->heads;
  if (is_by_distance(encoding)) return 1;
  throw InputError(
      fmt::format("sweep takes rope, sinusoidal, alibi, t5, deberta and shaw, not {}", to_string(encoding)));
}

std::int64_t sweep_values(const Encoding& encoding) {
  const auto* scheme = std::get_if<Sinusoidal>(&encoding);
  return scheme ? scheme->dim : is_by_distance(encoding) ? sweep_pairs(encoding) : 2 * sweep_pairs(encoding);
}

float rotation_input(std::int64_t position, std::int64_t channel) {
  const std::uint64_t bits =
      scatter(scatter(static_cast<std::uint64_t>(position)) ^ static_cast<std::uint64_t>(channel));
  const float magnitude = 0.25F + static_cast<float>(bits >> 41) * 0x1p-24F;
  return (bits & 1) != 0 ? magnitude : -magnitude;
}

std::string_view to_string(Truth truth) {
  switch (truth) {
    case Truth::exact:
      return "exact";
    case Truth::frequency:
      return "frequency";
    case Truth::angle:
      return "angle";
    case Truth::table:
      return "table";
  }
  return "?";
}

SweepTally& SweepTally::operator+=(const SweepTally& other) {
  tally += other.tally;
  no_claim += other.no_claim;
  if (other.first_no_claim && (!first_no_claim || *other.first_no_claim < *first_no_claim))
    first_no_claim = other.first_no_claim;
  broken += other.broken;
  if (other.first_broken && (!first_broken || *other.first_broken < *first_broken))
    first_broken = other.first_broken;
  const bool earlier =
      other.position_error_at && (!position_error_at || *other.position_error_at < *position_error_at);
  if (other.position_error > position_error || (other.position_error == position_error && earlier)) {
    position_error = other.position_error;
    position_error_at = other.position_error_at;
  }
  return *this;
}

SweepTally sweep(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads,
                 const std::function<void(std::int64_t)>& progress) {
  if (subject.by_distance) return sweep_distances(subject, begin, end, threads, progress);
  if (subject.sinusoid) return sweep_rows(subject, begin, end, threads, progress);
  SweepTally total;
  const Stored stored = stored_of(subject);
  const std::int64_t rows = block_rows(subject.rope);
  for (std::int64_t span = begin; span < end; span += kSpanPositions) {
    const std::int64_t span_end = std::min(end, span + kSpanPositions);
    const Oracle oracle = oracle_of(subject, stored, span, span_end);
    Judge judge{{oracle, {}, {}}, subject, exact_frequencies(subject.rope, subject.seq_len).attention_factor};
    // A position error is in units of the truth's own frequencies.
    if (subject.truth == Truth::frequency) {
      judge.inv_freq.assign(stored.inv_freq.begin(), stored.inv_freq.end());
    } else {
      for (const Wide& w : exact_frequencies(subject.rope, subject.seq_len).inv_freq) {
        judge.inv_freq.push_back(w.value());
      }
    }
    if (subject.contract) {
      const std::optional<DType> dtype =
          subject.table != nullptr ? parse_dtype(subject.table->format().name) : std::nullopt;
      judge.bounds.emplace(for_output(*subject.contract, dtype.value_or(DType::f32)),
                           subject.bare ? without_attention_factor(subject.rope) : subject.rope,
                           subject.seq_len);
    }

    const bool alone = subject.kernel && !subject.kernel->capabilities.concurrent;
    const auto visit = [&](std::int64_t first, std::int64_t count, SweepBuffers& buffers, SweepTally& tally) {
      sweep_block(judge, first, count, stored.factor, buffers, tally);
    };
    total += over_blocks(span, span_end, rows, alone ? 1 : threads, visit, [&](std::int64_t done) {
      if (progress) progress(span - begin + done);
    });
  }
  return total;
}

SweepTally over_blocks(std::int64_t begin, std::int64_t end, std::int64_t rows, int threads,
                       const VisitBlock& visit, const std::function<void(std::int64_t)>& progress) {
  SweepTally total;
  std::atomic<std::int64_t> next{begin};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](bool reports) {
    SweepBuffers buffers;
    SweepTally mine;
    try {
      for (std::int64_t first = next.fetch_add(rows); first < end; first = next.fetch_add(rows)) {
        visit(first, std::min(rows, end - first), buffers, mine);
        if (reports) progress(first - begin);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
      next = end;
    }
    const std::scoped_lock lock(mutex);
    total += mine;
  };
  std::vector<std::thread> helpers;
  try {
    for (int t = 1; t < threads; ++t) helpers.emplace_back(work, false);
  } catch (const std::system_error&) {
    // No more threads are to be had: those that started do the work.
  }
  work(true);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  return total;
}

Range shard_of(std::int64_t begin, std::int64_t end, std::int64_t index, std::int64_t count) {
  const std::int64_t whole = (end - begin) / count;
  const std::int64_t rest = (end - begin) % count;
  const std::int64_t first = begin + index * whole + std::min(index, rest);
  return {first, first + whole + (index < rest ? 1 : 0)};
}

}  // namespace sextant
