// special_values: NaN and infinity in one channel stay in that channel's pair, and there they do not turn
// into numbers; channels past the rotary width keep -0, subnormals and the payloads of NaN. Teeth: a lane
// that leaks into its neighbours (a sum over the head, a product with a 0/1 mask), NaN or infinity cleared, a
// tail copied through arithmetic. Blind to -0 and subnormals in rotated channels, which the accuracy laws
// judge.
//
// In the pair: a NaN makes both components NaN. An infinite x_a with x_b finite gives y_a = x_a C~ and y_b =
// x_a S~, up to terms that are finite: the infinity with the sign of x_a C, and NaN where a kernel adds
// infinities of both signs, wherever C~ surely has the sign of C, which is |C| > bound of the table entry
// (contract.cpp). Where it may vanish, 0 times infinity is NaN and 0 is left out, so nothing is required.
#include <cmath>
#include <cstring>
#include <limits>

#include "sextant/props/conduct.hpp"
#include "sextant/props/rotation_law.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

/// The sign of A cos and A sin of a pair (sin by the direction of the encoding) where the kernel's surely has
/// it, else 0.
struct Signs {
  int cos, sin;
};
Signs signs_of(const Trial& trial, const Task& task, std::int64_t position, std::int64_t pair) {
  const auto& rope = std::get<Rope>(*task.c.encoding);
  const auto sign = [](double value, double error) {
    return !(std::fabs(value) > error) ? 0 : value < 0 ? -1 : 1;
  };
  const bool backward = task.operation == Operation::rotate_backward;
  const int turn = (rope.direction < 0) != backward ? -1 : 1;
  const TableSlots slots = table_slots(task.form, rope.pairs(), pair);
  if (task.operation == Operation::rotate_with_tables) {
    const auto first = static_cast<std::size_t>(position * row_width(task.form, rope.pairs()));
    const std::vector<float>& sines = holds_both(task.form) ? task.cos : task.sin;
    // Below the least normal a table may be flushed; rounded to fewer bits it keeps its sign or vanishes.
    const double least = std::max(std::ldexp(1.0, format_of(task.c.table).emin), 0x1p-14);
    // Whether a kernel applies the direction to given tables is judged elsewhere.
    return {sign(task.cos[first + static_cast<std::size_t>(slots.cos)], least),
            rope.direction < 0 ? 0 : sign(sines[first + static_cast<std::size_t>(slots.sin)], least)};
  }
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, task.c.seq_len);
  const ExactRow& row = trial.truths.rows(rope, task.c.seq_len).at(position);
  const double cos = row.cos[static_cast<std::size_t>(pair)].value();
  const double sin = row.sin[static_cast<std::size_t>(pair)].value();
  const PairBound at = bounds.pair(pair, position, cos, sin);
  return {sign(cos, bounds.table_entry(at, at.cos, cos, sin).absolute),
          turn * sign(sin, bounds.table_entry(at, at.sin, sin, cos).absolute)};
}

Outcome check(const Trial& trial) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto& rope = std::get<Rope>(*trial.c.encoding);
  const std::int64_t width = rope.head_dim;
  Task task = task_of(trial);
  for (std::vector<float>* x : {&task.q, &task.k}) {
    for (std::size_t i = 0; i < x->size(); ++i) {
      if (static_cast<std::int64_t>(i) % width >= rope.dim)
        (*x)[i] = special_value(trial.c, static_cast<std::int64_t>(i));
    }
  }
  const Placement at = usual_placement(trial.kernel, trial.c);
  const std::vector<Output> plain = outputs_of(trial.kernel, task, at);

  const auto channels_of = [&](std::int64_t pair) {
    const PairChannels to = pair_channels(rope.pairing, rope.dim, pair);
    return task.operation == Operation::rotate_backward ? PairChannels{to.out_a, to.out_b, to.in_a, to.in_b}
                                                        : to;
  };

  // One row of q and one of k get one special value.
  struct Spot {
    std::vector<float>* in;
    std::int64_t row, pair;
    bool second;
    float value;
  };
  const float special[] = {NAN, std::bit_cast<float>(0xffc40000U), kInfinity, -kInfinity};
  const auto draw = [&](std::uint64_t salt) { return scatter(trial.c.seed ^ scatter(salt)); };
  std::vector<Spot> spots;
  for (std::vector<float>* x : {&task.q, &task.k}) {
    const std::uint64_t salt = 8 * spots.size();
    Spot spot{x, static_cast<std::int64_t>(draw(salt + 1) % (x->size() / static_cast<std::size_t>(width))),
              static_cast<std::int64_t>(draw(salt + 2) % static_cast<std::uint64_t>(rope.pairs())),
              draw(salt + 3) % 2 == 0, special[draw(salt + 4) % 4]};
    const PairChannels channels = channels_of(spot.pair);
    (*x)[static_cast<std::size_t>(spot.row * width + (spot.second ? channels.in_b : channels.in_a))] =
        spot.value;
    spots.push_back(spot);
  }
  std::vector<Output> got = outputs_of(trial.kernel, task, at);

  Measure measure;
  for (std::size_t t = 0; t < spots.size(); ++t) {
    const Spot& spot = spots[t];
    const std::int64_t heads = t == 0 ? task.c.heads : task.c.kv_heads;
    const std::int64_t position =
        task.c.positions[static_cast<std::size_t>(spot.row / heads % task.c.tokens())];
    const PairChannels channels = channels_of(spot.pair);
    const Signs signs = signs_of(trial, task, position, spot.pair);
    const int to_a = spot.second ? -signs.sin : signs.cos;
    const int to_b = spot.second ? signs.cos : signs.sin;
    const auto judge = [&](std::int64_t channel, int sign, const char* function) {
      const auto place = static_cast<std::size_t>(spot.row * width + channel);
      const float found = got[t].values[place];
      got[t].values[place] = plain[t].values[place];  // judged here, not among the elements left alone
      if (!std::isnan(spot.value) && sign == 0) return;
      const float want = std::isnan(spot.value) ? spot.value : static_cast<float>(sign) * spot.value;
      measure.take(std::isnan(found) || found == want ? 0 : 1, 0,
                   {position, spot.pair, function, found, want});
    };
    judge(channels.out_a, to_a, "a");
    judge(channels.out_b, to_b, "b");
    for (std::size_t i = 0; i < spot.in->size(); ++i) {
      const auto channel = static_cast<std::int64_t>(i) % width;
      if (channel < rope.dim) continue;
      const bool same = std::memcmp(&got[t].values[i], &(*spot.in)[i], sizeof(float)) == 0;
      measure.take(same ? 0 : 1, 0, {position, channel, "tail", got[t].values[i], (*spot.in)[i]});
    }
  }
  // Bounds of elements come from finite inputs.
  agree(trial, task_of(trial), got, plain, measure);
  return judged(std::move(measure));
}

}  // namespace

Law special_values() {
  Law law;
  law.id = "special_values";
  law.title = "NaN and infinity stay in their pair and stay themselves; copied channels keep every bit";
  law.blind_to = "-0 and subnormals in rotated channels; both components of a pair special at once";
  law.operations = {Operation::rotate, Operation::rotate_with_tables, Operation::rotate_backward};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
