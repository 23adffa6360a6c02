// Grading: contracts by sweeps, stages by exchanging one truth at a time.
#include "sextant/props/grade.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sextant/props/call.hpp"
#include "sextant/reference/oracle/oracle.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

/// Multiples of 2^-50 below 4 in magnitude are doubles, and so are their sums and differences.
double on_grid(const Wide& value) { return std::ldexp(std::nearbyint(std::ldexp(value.value(), 50)), -50); }

/// cos and sin of one row at one depth of the ladder of truths.
struct Level {
  std::vector<Wide> cos, sin;
};

Level level_of(const Oracle& oracle, std::int64_t position) {
  Level level;
  for (std::int64_t k = 0; k < oracle.pairs(); ++k) {
    const Oracle::WidePair pair = oracle.wide(position, k);
    level.cos.push_back(pair.cos);
    level.sin.push_back(pair.sin);
  }
  return level;
}

/// What a kernel exposes at one position, from the exact truth to its table, with the name of each step.
struct Ladder {
  std::vector<Level> levels;
  std::vector<std::string> steps;  ///< levels.size() - 1
};

class Stages {
 public:
  Stages(const Kernel& kernel, const Rope& rope, std::int64_t seq_len)
      : kernel_(kernel), rope_(rope), seq_len_(seq_len), exact_(rope, seq_len, 0, 0) {
    if (!kernel.frequencies) return;
    const KernelFrequencies stored = kernel_frequencies(kernel, rope, seq_len);
    factor_ = stored.attention_factor;
    stored_.emplace(Oracle::from_stored(stored.inv_freq, factor_, 0, 0));
  }

  [[nodiscard]] Ladder at(std::int64_t position) const {
    Ladder ladder;
    ladder.levels.push_back(level_of(exact_, position));
    std::string pending;
    const auto step = [&](const char* name, bool exposed) {
      if (!pending.empty()) pending += '+';
      pending += name;
      if (exposed) ladder.steps.push_back(std::exchange(pending, {}));
      return exposed;
    };
    if (step("frequency", stored_.has_value())) ladder.levels.push_back(level_of(*stored_, position));
    if (step("angle", stored_ && kernel_.angles)) ladder.levels.push_back(angle_level(position));
    step("trig", true);
    ladder.levels.push_back(table_level(position));
    return ladder;
  }

 private:
  [[nodiscard]] Level angle_level(std::int64_t position) const {
    const std::int64_t pairs = rope_.pairs();
    std::vector<float> angles(static_cast<std::size_t>(pairs), NAN);
    const Encoding encoding = rope_;
    kernel_.angles(
        {encoding, seq_len_, dense(&position, DType::i64, 1), dense(angles.data(), DType::f32, 1, pairs)});
    std::vector<float> magnitudes;
    for (const float angle : angles) magnitudes.push_back(std::fabs(angle));
    Level level = level_of(Oracle::from_stored(magnitudes, factor_, 0, 0), 1);
    for (std::size_t k = 0; k < angles.size(); ++k) {
      if (angles[k] < 0) level.sin[k] = -level.sin[k];
    }
    return level;
  }

  [[nodiscard]] Level table_level(std::int64_t position) const {
    const KernelTables tables = kernel_tables(kernel_, rope_, seq_len_, {position});
    Level level;
    for (std::int64_t k = 0; k < rope_.pairs(); ++k) {
      const TableSlots slots = table_slots(tables.form, rope_.pairs(), k);
      level.cos.emplace_back(double{tables.cos[static_cast<std::size_t>(slots.cos)]});
      level.sin.emplace_back(double{tables.sin_table()[static_cast<std::size_t>(slots.sin)]});
    }
    return level;
  }

  const Kernel& kernel_;
  const Rope& rope_;
  std::int64_t seq_len_;
  Oracle exact_;
  double factor_ = 1;
  std::optional<Oracle> stored_;
};

/// Signed shares of one scalar seen through the levels of a ladder.
void add_point(const std::vector<double>& values, const std::vector<std::string>& steps,
               std::int64_t position, std::int64_t pair, const char* function, Grade& grade,
               Grade& worst_here) {
  const double total = values.back() - values.front();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StageShare share{steps[i], position, pair, function, values[i + 1] - values[i]};
    auto at = std::find_if(grade.maxima.begin(), grade.maxima.end(),
                           [&](const StageShare& known) { return known.stage == share.stage; });
    if (at == grade.maxima.end()) {
      grade.maxima.push_back(share);
    } else if (std::fabs(share.signed_share) > std::fabs(at->signed_share)) {
      *at = share;
    }
  }
  if (!worst_here.totals.empty() && std::fabs(total) <= std::fabs(worst_here.totals[0].signed_share)) return;
  worst_here.totals = {{"total", position, pair, function, total}};
  worst_here.stages.clear();
  for (std::size_t i = 0; i < steps.size(); ++i)
    worst_here.stages.push_back({steps[i], position, pair, function, values[i + 1] - values[i]});
}

void add_position(const Kernel& kernel, const Rope& rope, std::int64_t seq_len, const Ladder& ladder,
                  std::int64_t position, Grade& grade) {
  Grade worst;
  const auto through = [&](const auto& value_at) {
    std::vector<double> values;
    for (const Level& level : ladder.levels) values.push_back(on_grid(value_at(level)));
    return values;
  };
  for (std::int64_t k = 0; k < rope.pairs(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    add_point(through([&](const Level& level) { return level.cos[i]; }), ladder.steps, position, k, "cos",
              grade, worst);
    add_point(through([&](const Level& level) { return level.sin[i]; }), ladder.steps, position, k, "sin",
              grade, worst);
  }
  if (kernel.rotate) {
    std::vector<float> x, y(static_cast<std::size_t>(rope.head_dim), NAN);
    for (std::int64_t c = 0; c < rope.head_dim; ++c) x.push_back(rotation_input(position, c));
    const Encoding encoding = rope;
    const auto view = [&](std::vector<float>& data) {
      return dense(data.data(), DType::f32, 1, 1, 1, rope.head_dim);
    };
    kernel.rotate({encoding,
                   seq_len,
                   Layout::bshd,
                   dense(&position, DType::i64, 1),
                   view(x),
                   {},
                   {},
                   view(y),
                   {},
                   {},
                   {},
                   0});
    std::vector<std::string> steps = ladder.steps;
    steps.emplace_back("arithmetic");
    for (std::int64_t k = 0; k < rope.pairs(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      const PairChannels at = pair_channels(rope.pairing, rope.dim, k);
      const auto turned = [&](const Level& level) {
        return rotate_pair(Wide(double{x[static_cast<std::size_t>(at.in_a)]}),
                           Wide(double{x[static_cast<std::size_t>(at.in_b)]}), level.cos[i],
                           rope.direction < 0 ? -level.sin[i] : level.sin[i]);
      };
      std::vector<double> a = through([&](const Level& level) { return turned(level).a; });
      std::vector<double> b = through([&](const Level& level) { return turned(level).b; });
      a.push_back(on_grid(Wide(double{y[static_cast<std::size_t>(at.out_a)]})));
      b.push_back(on_grid(Wide(double{y[static_cast<std::size_t>(at.out_b)]})));
      add_point(a, steps, position, k, "a", grade, worst);
      add_point(b, steps, position, k, "b", grade, worst);
    }
  }
  grade.stages.insert(grade.stages.end(), worst.stages.begin(), worst.stages.end());
  grade.totals.insert(grade.totals.end(), worst.totals.begin(), worst.totals.end());
}

}  // namespace

Grade grade(const Kernel& kernel, const Rope& rope, std::int64_t seq_len, Truth truth, std::int64_t begin,
            std::int64_t end, int threads, const std::function<void(std::int64_t)>& progress) {
  Grade result;
  for (const Contract& contract : contracts()) {
    // Tables do not tell how they are used.
    if (contract.table == Contract::Table::given || contract.arithmetic != Contract::Arithmetic::f32)
      continue;
    SweepSubject subject;
    subject.rope = rope;
    subject.seq_len = seq_len;
    subject.kernel = &kernel;
    subject.truth = truth;
    subject.contract = contract;
    const SweepTally tally = sweep(subject, begin, end, threads, progress);
    ContractGrade kept{contract.name, end - 1, tally.first_broken, tally.first_no_claim, tally.no_claim};
    for (const std::optional<Place>& limit : {tally.first_broken, tally.first_no_claim}) {
      if (!limit || (kept.up_to_position && limit->position > *kept.up_to_position)) continue;
      kept.up_to_position = limit->position > begin ? std::optional(limit->position - 1) : std::nullopt;
      if (!kept.up_to_position) break;
    }
    result.contracts.push_back(kept);
  }
  std::set<std::int64_t> positions = {begin, end - 1};
  for (std::int64_t top = 1; top < end; top *= 2) {
    if (top - 1 >= begin) positions.insert(top - 1);
  }
  const Stages stages(kernel, rope, seq_len);
  for (const std::int64_t position : positions)
    add_position(kernel, rope, seq_len, stages.at(position), position, result);
  return result;
}

}  // namespace sextant
