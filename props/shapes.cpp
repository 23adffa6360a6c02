// shapes: a call on part of the batches, tokens or heads gives the rows that the whole call gave them; parts
// of 0 and 1 and of odd size among them. A kernel may refuse a size, but not all of them. Teeth: a remainder
// loop that drops, repeats or rounds its rows differently, a size of zero taken for one. Blind to faults of
// all sizes alike, and to head dimensions, which come with the encoding.
#include <algorithm>

#include "sextant/props/conduct.hpp"

namespace sextant {
namespace {

/// From `first` on, `count` of them.
struct Range {
  std::int64_t first, count;
};
struct Part {
  Range batch, tokens, heads, kv_heads;  ///< of bias and buckets, kv_heads are keys
};

/// The rows of [batch, tokens, heads, width] that lie in a part.
std::vector<float> slice(const std::vector<float>& all, std::int64_t tokens, std::int64_t heads,
                         std::int64_t width, const Range& b, const Range& s, const Range& h) {
  std::vector<float> part;
  for (std::int64_t i = b.first; i < b.first + b.count; ++i) {
    for (std::int64_t j = s.first; j < s.first + s.count; ++j) {
      const auto row = all.begin() + ((i * tokens + j) * heads + h.first) * width;
      part.insert(part.end(), row, row + h.count * width);
    }
  }
  return part;
}

/// Whether rows depend on their token alone, and whether outputs are [.., queries, keys].
bool of_rows(Operation operation) { return operation == Operation::tables || operation == Operation::encode; }
bool of_keys(Operation operation) { return operation == Operation::bias || operation == Operation::buckets; }

Task part_of(const Task& whole, const Part& part) {
  Task task = whole;
  const Case& c = whole.c;
  task.c.batch = part.batch.count;
  task.c.heads = part.heads.count;
  task.c.kv_heads = part.kv_heads.count;
  const auto first = c.positions.begin() + part.tokens.first;
  task.c.positions.assign(first, first + part.tokens.count);
  if (of_keys(whole.operation)) {
    const std::vector<std::int64_t>& keys = c.key_positions();
    task.c.keys.assign(keys.begin() + part.kv_heads.first,
                       keys.begin() + part.kv_heads.first + part.kv_heads.count);
    task.c.heads = task.c.kv_heads = c.heads;
  }
  if (of_rows(whole.operation) || of_keys(whole.operation)) return task;
  task.q = slice(whole.q, c.tokens(), c.heads, c.head_dim, part.batch, part.tokens, part.heads);
  task.k = slice(whole.k, c.tokens(), c.kv_heads, c.head_dim, part.batch, part.tokens, part.kv_heads);
  return task;
}

std::vector<Output> part_of(const std::vector<Output>& whole, const Task& task, const Part& part) {
  std::vector<Output> outputs = whole;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Output& all = whole[o];
    const std::int64_t rows = all.per_token / all.width;
    if (of_keys(task.operation)) {
      outputs[o].values =
          slice(all.values, task.c.tokens(), task.c.key_tokens(), 1,
                {0, task.operation == Operation::bias ? task.c.heads : 1}, part.tokens, part.kv_heads);
      outputs[o].per_token = outputs[o].width = part.kv_heads.count;
      continue;
    }
    if (of_rows(task.operation)) {
      outputs[o].values = slice(all.values, task.c.tokens(), 1, all.width, {0, 1}, part.tokens, {0, 1});
      continue;
    }
    const Range& heads = o == 0 ? part.heads : part.kv_heads;
    outputs[o].values = slice(all.values, task.c.tokens(), rows, all.width, part.batch, part.tokens, heads);
    outputs[o].per_token = heads.count * all.width;
  }
  return outputs;
}

Outcome check(const Trial& trial) {
  const Task task = task_of(trial);
  const Case& c = task.c;
  const Placement at = usual_placement(trial.kernel, c);
  const std::vector<Output> whole = outputs_of(trial.kernel, task, at);

  const bool keyed = of_keys(task.operation);
  const Part all{{0, c.batch}, {0, c.tokens()}, {0, c.heads}, {0, keyed ? c.key_tokens() : c.kv_heads}};
  std::vector<Part> parts;
  const auto add = [&](auto change) {
    Part part = all;
    change(part);
    parts.push_back(part);
  };
  for (std::int64_t s = 0; s < c.tokens(); ++s) add([&](Part& p) { p.tokens = {s, 1}; });
  for (std::int64_t count = 0; count < c.tokens(); count += count == 0 ? 1 : 2)
    add([&](Part& p) { p.tokens = {c.tokens() - count, count}; });
  // The last key stays: a form of ALiBi counts from it.
  for (std::int64_t j = 1; keyed && j < c.key_tokens(); ++j)
    add([&](Part& p) { p.kv_heads = {j, c.key_tokens() - j}; });
  if (!of_rows(task.operation) && !keyed) {
    for (std::int64_t b = 0; b < c.batch; ++b) add([&](Part& p) { p.batch = {b, 1}; });
    add([&](Part& p) { p.batch = {0, 0}; });
    for (std::int64_t h = 0; h < c.kv_heads; ++h) add([&](Part& p) { p.heads = p.kv_heads = {h, 1}; });
    add([&](Part& p) { p.heads = p.kv_heads = {0, 0}; });
  }

  Measure measure;
  bool any = false;
  std::string refused;
  for (const Part& part : parts) {
    const Task small = part_of(task, part);
    if (small.c.tokens() < trial.kernel.capabilities.min_tokens) continue;
    try {
      agree(trial, small, outputs_of(trial.kernel, small, at), part_of(whole, task, part), measure);
      any = true;
    } catch (const Refused& refusal) {
      refused = refusal.what();
    }
  }
  if (!any && !refused.empty()) return unsupported(refused);
  return judged(std::move(measure));
}

}  // namespace

Law shapes() {
  Law law;
  law.id = "shapes";
  law.title = "part of the batches, tokens, keys or heads, 0 and 1 too, comes out as in the whole call";
  law.blind_to = "faults of all sizes alike";
  law.operations = {Operation::tables,          Operation::rotate, Operation::rotate_with_tables,
                    Operation::rotate_backward, Operation::encode, Operation::bias,
                    Operation::buckets};
  law.by_geometry = true;
  law.space = behaviour_space;
  law.check = check;
  return law;
}

}  // namespace sextant
