// Tensors of a call between canaries, with canaries in their gaps, and results compared element by element.
//
// Slack of two results that each lie within the contract's bound of the same exact value: twice the bound.
// For rotate_with_tables cos and sin are inputs, so that only the rotation errs.
#include "sextant/props/conduct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <list>
#include <numeric>

#include "sextant/fixtures/element.hpp"
#include "sextant/fixtures/layout.hpp"
#include "sextant/props/alibi_bounds.hpp"
#include "sextant/props/call.hpp"
#include "sextant/props/encode_law.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/reference/alibi.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/shaw.hpp"
#include "sextant/reference/transformer_xl.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kFewRows = 24;  // of a learned table, past its offset; each side of Shaw's

/// A tensor in memory of its own, seen in units of its elements, or of four bytes where those are wider;
/// `order` lists its units as offsets from its first.
struct Placed {
  std::string name;
  Tensor view;
  std::size_t unit = 4;  ///< bytes
  std::vector<std::size_t> order;
  std::vector<std::uint32_t> before;  ///< as `order`; nothing for an output
  std::vector<std::byte> store;
  std::size_t begin = 0, span = 0;  ///< units

  [[nodiscard]] std::uint32_t get(std::size_t at) const {
    if (unit == 2) return load<std::uint16_t>(at);
    return load<std::uint32_t>(at);
  }
  void set(std::size_t at, std::uint32_t value) {
    if (unit == 2) return keep(at, static_cast<std::uint16_t>(value));
    keep(at, value);
  }

 private:
  template <class Unit>
  [[nodiscard]] Unit load(std::size_t at) const {
    Unit value;
    std::memcpy(&value, store.data() + at * sizeof(Unit), sizeof(Unit));
    return value;
  }
  template <class Unit>
  void keep(std::size_t at, Unit value) {
    std::memcpy(store.data() + at * sizeof(Unit), &value, sizeof(Unit));
  }
};

bool whole(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

std::size_t unit_of(DType dtype) { return std::min<std::size_t>(size_of(dtype), 4); }

/// The units of values that the dtype holds, of i32 and of i64.
std::vector<std::uint32_t> units_of(DType dtype, const std::vector<float>& values) {
  std::vector<std::uint32_t> units;
  units.reserve(values.size());
  for (const float value : values) units.push_back(bits_in(dtype, value));
  return units;
}
template <class Integer>
std::vector<std::uint32_t> units_of(const std::vector<Integer>& values) {
  std::vector<std::uint32_t> units(values.size() * sizeof(Integer) / 4);
  if (!units.empty()) std::memcpy(units.data(), values.data(), units.size() * 4);
  return units;
}

std::vector<std::size_t> straight(std::size_t units) {
  std::vector<std::size_t> order(units);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// The tensors of one call.
class Stage {
 public:
  Stage(const Kernel& kernel, const Placement& at)
      : at_(at),
        boundary_(static_cast<std::size_t>(std::max<std::int64_t>(64, kernel.capabilities.alignment))) {}

  Tensor input(std::string name, const Tensor& shape, std::vector<std::size_t> order,
               std::vector<std::uint32_t> units) {
    return place(std::move(name), shape, std::move(order), std::move(units), {}).view;
  }
  /// A dense one.
  Tensor input(std::string name, const Tensor& shape, std::vector<std::uint32_t> units) {
    std::vector<std::size_t> order = straight(units.size());
    return input(std::move(name), shape, std::move(order), std::move(units));
  }
  Tensor output(std::string name, const Tensor& shape, std::vector<std::size_t> order, std::int64_t per_token,
                std::int64_t width) {
    return place(std::move(name), shape, std::move(order), {}, Output{{}, per_token, width, {}}).view;
  }
  /// The last input is an output too.
  Tensor in_place(std::int64_t per_token, std::int64_t width) {
    Placed& last = placed_.back();
    last.before.clear();
    outputs_.back() = Output{{}, per_token, width, {}};
    return last.view;
  }

  Conduct finish() {
    Conduct conduct;
    conduct.inputs.unit = conduct.outside.unit = "count";
    auto output = outputs_.begin();
    for (const Placed& tensor : placed_) {
      check_outside(tensor, conduct.outside);
      for (std::size_t i = 0; i < tensor.before.size(); ++i) {
        const std::uint32_t now = tensor.get(tensor.begin + tensor.order[i]);
        if (now != tensor.before[i]) take(tensor, tensor.name, i, now, tensor.before[i], conduct.inputs);
      }
      conduct.inputs.elements += static_cast<std::int64_t>(tensor.before.size());
      if (*output) {
        (*output)->name = tensor.name;
        (*output)->values.reserve(tensor.order.size());
        for (const std::size_t place : tensor.order)
          (*output)->values.push_back(value_in(whole(tensor.view.dtype) ? DType::f32 : tensor.view.dtype,
                                               tensor.get(tensor.begin + place)));
        conduct.outputs.push_back(std::move(**output));
      }
      ++output;
    }
    return conduct;
  }

 private:
  Placed& place(std::string name, Tensor view, std::vector<std::size_t> order,
                std::vector<std::uint32_t> before, std::optional<Output> output) {
    const std::size_t unit = unit_of(view.dtype);
    const std::size_t per_element = size_of(view.dtype) / unit;
    // A row of a table before and after it belongs to it too: what reads there reads canaries, and nothing
    // else.
    const std::size_t row = view.rank < 4 ? static_cast<std::size_t>(view.stride(0)) * per_element : 0;
    const std::size_t margin = 256 / unit + row;
    Placed& tensor = placed_.emplace_back();
    tensor.name = std::move(name);
    tensor.view = view;
    tensor.unit = unit;
    tensor.order = std::move(order);
    tensor.before = std::move(before);
    if (view.elements() > 0) {
      tensor.span = per_element;
      for (int axis = 0; axis < view.rank; ++axis)
        tensor.span += static_cast<std::size_t>((view.dim(axis) - 1) * view.stride(axis)) * per_element;
    }
    const auto shift = static_cast<std::size_t>(at_.shift) * per_element;
    tensor.store.resize((tensor.span + 2 * margin + shift) * unit + boundary_);
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.store.data() + margin * unit);
    tensor.begin = margin + (boundary_ - address % boundary_) % boundary_ / unit + shift;
    for (std::size_t i = 0; i + 1 < tensor.store.size(); i += 2)
      std::memcpy(tensor.store.data() + i, &at_.filling, 2);
    for (std::size_t i = 0; i < tensor.before.size(); ++i)
      tensor.set(tensor.begin + tensor.order[i], tensor.before[i]);
    tensor.view.data = tensor.store.data() + tensor.begin * unit;
    outputs_.push_back(std::move(output));
    return tensor;
  }

  [[nodiscard]] std::uint32_t filling() const { return at_.filling * 0x10001U; }

  static void take(const Placed& tensor, const std::string& name, std::size_t index, std::uint32_t got,
                   std::uint32_t want, Measure& measure) {
    const DType dtype = tensor.view.dtype;
    const auto value = [&](std::uint32_t unit) {
      return whole(dtype) ? static_cast<double>(unit) : double{value_in(dtype, unit)};
    };
    measure.take(1, 0, {0, static_cast<std::int64_t>(index), name, value(got), value(want)});
  }

  void check_outside(const Placed& tensor, Measure& measure) const {
    const std::uint32_t untouched = tensor.unit == 2 ? at_.filling : filling();
    const auto check = [&](std::size_t at, const char* where) {
      const std::uint32_t now = tensor.get(at);
      if (now == untouched) {
        ++measure.elements;
      } else {
        take(tensor, fmt::format("{} {}", where, tensor.name), at, now, untouched, measure);
      }
    };
    const auto check_range = [&](std::size_t first, std::size_t last, const char* where) {
      // Mostly untouched, which bytes compared with themselves one unit on show at once.
      const std::byte* bytes = tensor.store.data() + first * tensor.unit;
      const std::size_t size = (last - first) * tensor.unit;
      if (first < last && tensor.get(first) == untouched &&
          std::memcmp(bytes, bytes + tensor.unit, size - tensor.unit) == 0) {
        measure.elements += static_cast<std::int64_t>(last - first);
        return;
      }
      for (std::size_t i = first; i < last; ++i) check(i, where);
    };
    const std::size_t end = tensor.begin + tensor.span;
    check_range(0, tensor.begin, "before");
    check_range(end, tensor.store.size() / tensor.unit, "past the end of");
    if (tensor.order.size() == tensor.span) return;
    std::vector<bool> inside(tensor.span);
    for (const std::size_t place : tensor.order) inside[place] = true;
    for (std::size_t i = 0; i < tensor.span; ++i) {
      if (!inside[i]) check(tensor.begin + i, "in a gap of");
    }
  }

  const Placement& at_;
  std::size_t boundary_;
  std::list<Placed> placed_;
  std::list<std::optional<Output>> outputs_;
};

Tensor strided_heads(DType dtype, Layout layout, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                     std::int64_t channels, std::int64_t gap) {
  Tensor view = dense_heads(nullptr, dtype, layout, batch, tokens, heads, channels);
  std::int64_t step = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    view.strides[static_cast<std::size_t>(axis)] = step;
    step = step * view.dim(axis) + gap;
  }
  return view;
}

std::vector<std::size_t> head_order(const Tensor& view, Layout layout) {
  const HeadView heads = head_view(view, layout);
  std::vector<std::size_t> order;
  order.reserve(static_cast<std::size_t>(heads.batch * heads.tokens * heads.heads * heads.channels));
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t s = 0; s < heads.tokens; ++s) {
      for (std::int64_t h = 0; h < heads.heads; ++h) {
        for (std::int64_t d = 0; d < heads.channels; ++d)
          order.push_back(static_cast<std::size_t>(heads.offset(b, s, h) + d));
      }
    }
  }
  return order;
}

Tensor place_positions(Stage& stage, const char* name, const std::vector<std::int64_t>& positions,
                       DType dtype) {
  const auto count = positions.size();
  if (dtype == DType::i64) return stage.input(name, dense(nullptr, dtype, count), units_of(positions));
  const std::vector<std::int32_t> narrow(positions.begin(), positions.end());
  return stage.input(name, dense(nullptr, dtype, count), units_of(narrow));
}

Tensor table_shape(TableForm form, DType dtype, std::int64_t rows, std::int64_t pairs) {
  if (form == TableForm::polar) return dense(nullptr, dtype, rows, pairs, 2);
  return dense(nullptr, dtype, rows, row_width(form, pairs));
}

void rotate(const Kernel& kernel, const Task& task, const Placement& at, Stage& stage) {
  const Case& c = task.c;
  const bool packed = at.layout == Layout::thd;
  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> starts;
  for (std::int64_t b = 0; b < (packed ? c.batch : 1); ++b)
    positions.insert(positions.end(), c.positions.begin(), c.positions.end());
  for (std::int64_t b = 0; b <= c.batch; ++b) starts.push_back(static_cast<std::int32_t>(b * c.tokens()));
  RotateCall call{
      *c.encoding, c.seq_len, at.layout, place_positions(stage, "positions", positions, at.positions),
      {},          {},        {},        {},
      {},          {},        {},        0};
  if (packed) {
    call.cu_seqlens = stage.input("cu_seqlens", dense(nullptr, DType::i32, starts.size()), units_of(starts));
  }
  const auto place = [&](const char* name, const std::vector<float>& x, std::int64_t heads, Tensor& in,
                         Tensor& out) {
    const Tensor view = strided_heads(c.dtype, at.layout, c.batch, c.tokens(), heads, c.head_dim, at.gap);
    const std::vector<std::size_t> order = head_order(view, at.layout);
    in = stage.input(name, view, order, units_of(c.dtype, x));
    out = at.in_place ? stage.in_place(heads * c.head_dim, c.head_dim)
                      : stage.output(fmt::format("the rotated {}", name), view, order, heads * c.head_dim,
                                     c.head_dim);
  };
  place("q", task.q, c.heads, call.q, call.q_out);
  place("k", task.k, c.kv_heads, call.k, call.k_out);
  if (task.operation == Operation::rotate) return kernel.rotate(call);
  if (task.operation == Operation::rotate_backward) return kernel.rotate_backward(call);
  const Tensor shape = table_shape(task.form, c.table, task.rows, task.pairs);
  const Tensor cos = stage.input("cos", shape, units_of(c.table, task.cos));
  const Tensor sin =
      holds_both(task.form) ? Tensor{} : stage.input("sin", shape, units_of(c.table, task.sin));
  kernel.rotate_with_tables({call, task.form, cos, sin});
}

/// The tokens in two steps from past length 0 on, keys into a cache.
void sequence(const Kernel& kernel, const Task& task, Stage& stage) {
  const Case& c = task.c;
  const std::int64_t first = c.tokens() / 2;
  SequenceCall call;
  const auto part = [&](const std::vector<float>& all, std::int64_t heads, std::int64_t from,
                        std::int64_t count) {
    std::vector<float> some;
    const std::int64_t row = heads * c.head_dim;
    for (std::int64_t b = 0; b < c.batch; ++b) {
      const auto begin = all.begin() + (b * c.tokens() + from) * row;
      some.insert(some.end(), begin, begin + count * row);
    }
    return some;
  };
  const auto shape = [&](std::int64_t tokens, std::int64_t heads) {
    return dense(nullptr, c.dtype, c.batch, tokens, heads, c.head_dim);
  };
  const auto order = [](const Tensor& view) { return straight(static_cast<std::size_t>(view.elements())); };
  const Tensor cache = shape(c.tokens(), c.kv_heads);
  const Tensor key_cache =
      stage.output("the key cache", cache, order(cache), c.kv_heads * c.head_dim, c.head_dim);
  for (const auto& [from, count] :
       {std::pair{std::int64_t{0}, first}, std::pair{first, c.tokens() - first}}) {
    if (count == 0) continue;
    SequenceStep step{from,
                      Operation::rotate,
                      {*c.encoding, c.seq_len, Layout::bshd, {}, {}, {}, {}, {}, {}, {}, {}, 0},
                      key_cache};
    const auto place = [&, from = from, count = count](const char* name, const std::vector<float>& x,
                                                       std::int64_t heads, Tensor& in, Tensor& out) {
      const Tensor view = shape(count, heads);
      in = stage.input(name, view, units_of(c.dtype, part(x, heads, from, count)));
      out = stage.output(fmt::format("the rotated {}", name), view, order(view), heads * c.head_dim,
                         c.head_dim);
    };
    place("q", task.q, c.heads, step.rotate.q, step.rotate.q_out);
    place("k", task.k, c.kv_heads, step.rotate.k, step.rotate.k_out);
    call.steps.push_back(step);
  }
  kernel.sequence(call);
}

void tables(const Kernel& kernel, const Task& task, const Placement& at, Stage& stage) {
  const Case& c = task.c;
  const std::int64_t pairs = std::get<Rope>(*c.encoding).pairs();
  const std::int64_t width = row_width(task.form, pairs);
  const Tensor shape = table_shape(task.form, c.dtype, c.tokens(), pairs);
  const auto order = straight(static_cast<std::size_t>(c.tokens() * width));
  const Tensor positions = place_positions(stage, "positions", c.positions, at.positions);
  const Tensor cos = stage.output("cos", shape, order, width, width);
  const Tensor sin = holds_both(task.form) ? Tensor{} : stage.output("sin", shape, order, width, width);
  kernel.tables({*c.encoding, c.seq_len, positions, task.form, cos, sin});
}

void frequencies(const Kernel& kernel, const Task& task, Stage& stage) {
  const std::int64_t pairs = std::get<Rope>(*task.c.encoding).pairs();
  const auto place = [&](const char* name, std::int64_t count) {
    return stage.output(name, dense(nullptr, DType::f32, count), straight(static_cast<std::size_t>(count)),
                        count, count);
  };
  const Tensor inv_freq = place("inv_freq", pairs);
  kernel.frequencies({*task.c.encoding, task.c.seq_len, inv_freq, place("attention_factor", 1)});
}

void attention(const Kernel& kernel, const Task& task, Stage& stage) {
  const Case& c = task.c;
  const auto shape = [&](std::int64_t heads) {
    return dense(nullptr, DType::f32, c.batch, c.tokens(), heads, c.head_dim);
  };
  const auto place = [&](const char* name, const std::vector<float>& x, std::int64_t heads) {
    return stage.input(name, shape(heads), units_of(DType::f32, x));
  };
  const Tensor q = place("q", task.q, c.heads);
  const Tensor k = place("k", task.k, c.kv_heads);
  const Tensor v = place("v", task.v, c.kv_heads);
  const Tensor out =
      stage.output("out", shape(c.heads), straight(task.q.size()), c.heads * c.head_dim, c.head_dim);
  kernel.attention({q, k, v, 1 / std::sqrt(static_cast<double>(c.head_dim)), Mask::none, {}, {}, out, {}});
}

/// Shapes of the learned tables that an operation takes.
std::vector<Tensor> learned_shapes(Operation operation, const Case& c) {
  if (const auto* learned = std::get_if<Learned>(&*c.encoding))
    return {dense(nullptr, c.dtype, learned->rows, learned->dim)};
  if (const auto* t5 = std::get_if<T5>(&*c.encoding); t5 && operation == Operation::bias)
    return {dense(nullptr, c.dtype, t5->buckets, c.heads)};
  if (operation != Operation::relative) return {};
  if (const auto* shaw = std::get_if<Shaw>(&*c.encoding))
    return {static_cast<std::size_t>(shaw->values ? 2 : 1),
            dense(nullptr, DType::f32, shaw_rows(*shaw), c.head_dim)};
  const std::int64_t rows =
      transformer_xl_rows(std::get<TransformerXl>(*c.encoding), c.tokens(), c.key_tokens());
  return {dense(nullptr, DType::f32, c.heads, c.head_dim), dense(nullptr, DType::f32, c.heads, c.head_dim),
          dense(nullptr, DType::f32, rows, c.heads, c.head_dim)};
}

std::vector<Tensor> place_learned(const Task& task, Stage& stage) {
  std::vector<Tensor> tables = learned_shapes(task.operation, task.c);
  for (std::size_t i = 0; i < tables.size(); ++i)
    tables[i] =
        stage.input(fmt::format("table {}", i), tables[i], units_of(tables[i].dtype, task.learned[i]));
  return tables;
}

Tensor dense_output(Stage& stage, const char* name, const Tensor& shape, std::int64_t per_token,
                    std::int64_t width) {
  return stage.output(name, shape, straight(static_cast<std::size_t>(shape.elements())), per_token, width);
}

void encode(const Kernel& kernel, const Task& task, const Placement& at, Stage& stage) {
  const Case& c = task.c;
  const Tensor positions = place_positions(stage, "positions", c.positions, at.positions);
  const std::vector<Tensor> tables = place_learned(task, stage);
  const std::int64_t width = width_of(*c.encoding);
  const Tensor rows = dense_output(stage, "rows", dense(nullptr, c.dtype, c.tokens(), width), width, width);
  kernel.encode({*c.encoding, positions, {}, tables.empty() ? Tensor{} : tables.front(), rows});
}

void bias(const Kernel& kernel, const Task& task, const Placement& at, Stage& stage) {
  const Case& c = task.c;
  const Tensor queries = place_positions(stage, "query positions", c.positions, at.positions);
  const Tensor keys = place_positions(stage, "key positions", c.key_positions(), at.positions);
  const std::vector<Tensor> tables = place_learned(task, stage);
  const Tensor shape = dense(nullptr, c.dtype, c.heads, c.tokens(), c.key_tokens());
  const Tensor written = dense_output(stage, "bias", shape, c.key_tokens(), c.key_tokens());
  kernel.bias({*c.encoding, queries, keys, c.heads, tables.empty() ? Tensor{} : tables.front(), written});
}

void buckets(const Kernel& kernel, const Task& task, const Placement& at, Stage& stage) {
  const Case& c = task.c;
  const Tensor queries = place_positions(stage, "query positions", c.positions, at.positions);
  const Tensor keys = place_positions(stage, "key positions", c.key_positions(), at.positions);
  const Tensor shape = dense(nullptr, DType::i32, c.tokens(), c.key_tokens());
  kernel.buckets(
      {*c.encoding, queries, keys, dense_output(stage, "buckets", shape, c.key_tokens(), c.key_tokens())});
}

void relative(const Kernel& kernel, const Task& task, Stage& stage) {
  const Case& c = task.c;
  const auto place = [&](const char* name, const std::vector<float>& x, std::int64_t tokens) {
    return stage.input(name, dense(nullptr, DType::f32, c.batch, tokens, c.heads, c.head_dim),
                       units_of(DType::f32, x));
  };
  const Tensor q = place("q", task.q, c.tokens());
  const Tensor k = place("k", task.k, c.key_tokens());
  const Tensor v = place("v", task.v, c.key_tokens());
  const std::vector<Tensor> tables = place_learned(task, stage);
  const Tensor scores =
      dense_output(stage, "scores", dense(nullptr, DType::f32, c.batch, c.heads, c.tokens(), c.key_tokens()),
                   c.key_tokens(), c.key_tokens());
  const Tensor out =
      dense_output(stage, "out", dense(nullptr, DType::f32, c.batch, c.tokens(), c.heads, c.head_dim),
                   c.heads * c.head_dim, c.head_dim);
  kernel.relative({*c.encoding, q, k, v, tables, scores, out});
}

/// cos and sin of a pair in a row of the given tables.
Pair<Wide> entry_of(const Task& task, const Rope& rope, std::int64_t row, std::int64_t pair) {
  const TableSlots slots = table_slots(task.form, rope.pairs(), pair);
  const auto first = static_cast<std::size_t>(row * row_width(task.form, rope.pairs()));
  const std::vector<float>& sin = holds_both(task.form) ? task.cos : task.sin;
  return {task.cos[first + static_cast<std::size_t>(slots.cos)],
          sin[first + static_cast<std::size_t>(slots.sin)]};
}

/// Twice the bound of each element of q or k rotated; infinity where there is no claim, 0 in the tail.
std::vector<double> rotation_limits(const Trial& trial, const Task& task, std::int64_t heads,
                                    const std::vector<float>& in) {
  const Case& c = task.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  const bool backward = task.operation == Operation::rotate_backward;
  std::vector<double> limits(in.size());
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(in.size()) / c.head_dim; ++row) {
    const std::int64_t position = c.positions[static_cast<std::size_t>(row / heads % c.tokens())];
    const float* x = in.data() + row * c.head_dim;
    double* limit = limits.data() + row * c.head_dim;
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
      const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
      const PairTruth truth =
          task.operation == Operation::rotate_with_tables
              ? given_truth(rope, entry_of(task, rope, position, i), format_of(c.table), bounds, i, x)
          : backward
              ? backward_truth(rope, trial.truths.rows(rope, c.seq_len).at(position), bounds, position, i, x)
              : pair_truth(rope, trial.truths.rows(rope, c.seq_len).at(position), bounds, position, i, x);
      const auto bound = [&](double arithmetic, const Wide& y, const Wide& partner) {
        const ElementBound element =
            bounds.rotated(truth.at, arithmetic, y.value(), partner.value(), truth.norm);
        return element.claim && truth.norm < bounds.largest_norm() ? 2 * element.absolute : INFINITY;
      };
      limit[backward ? at.in_a : at.out_a] = bound(truth.arithmetic_a, truth.y_a, truth.y_b);
      limit[backward ? at.in_b : at.out_b] = bound(truth.arithmetic_b, truth.y_b, truth.y_a);
    }
  }
  return limits;
}

/// Twice the bound of each table entry of both tensors; entries of the other function are never looked up.
std::vector<double> table_limits(const Trial& trial, const Task& task, bool of_sin) {
  const Case& c = task.c;
  const auto& rope = std::get<Rope>(*c.encoding);
  const Bounds& bounds = trial.truths.bounds(trial.contract, rope, c.seq_len);
  const std::int64_t width = row_width(task.form, rope.pairs());
  std::vector<double> limits(static_cast<std::size_t>(c.tokens() * width));
  for (std::int64_t s = 0; s < c.tokens(); ++s) {
    const std::int64_t position = c.positions[static_cast<std::size_t>(s)];
    const ExactRow& row = trial.truths.rows(rope, c.seq_len).at(position);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const double cos = row.cos[static_cast<std::size_t>(i)].value();
      const double sin = row.sin[static_cast<std::size_t>(i)].value();
      const PairBound at = bounds.pair(i, position, cos, sin);
      const TableSlots slots = table_slots(task.form, rope.pairs(), i);
      const auto set = [&](std::int64_t slot, const ElementBound& bound) {
        for (std::int64_t copy = 0; copy < slots.copies; ++copy)
          limits[static_cast<std::size_t>(s * width + slot + copy * slots.copy_step)] =
              bound.claim ? 2 * bound.absolute : INFINITY;
      };
      if (!of_sin) set(slots.cos, bounds.table_entry(at, at.cos, cos, sin));
      if (of_sin || holds_both(task.form)) set(slots.sin, bounds.table_entry(at, at.sin, sin, cos));
    }
  }
  return limits;
}

/// Visits the elements in which two results differ; the others are counted.
template <class Visit>
void differences(const Task& task, const std::vector<Output>& got, const std::vector<Output>& want,
                 Measure& measure, Visit visit) {
  for (std::size_t o = 0; o < want.size(); ++o) {
    for (std::size_t i = 0; i < want[o].values.size(); ++i) {
      const float ours = got[o].values[i];
      const float theirs = want[o].values[i];
      if (std::bit_cast<std::uint32_t>(ours) == std::bit_cast<std::uint32_t>(theirs)) {
        ++measure.elements;
        continue;
      }
      const auto index = static_cast<std::int64_t>(i);
      const std::int64_t token = index / want[o].per_token % std::max<std::int64_t>(task.c.tokens(), 1);
      visit(o, i,
            Witness{task.c.positions[static_cast<std::size_t>(token)], index % want[o].width, want[o].name,
                    ours, theirs});
    }
  }
}

/// Rows for the same positions, as the laws of encode compare them; transformer_xl's are those of a
/// sinusoidal encoding at clamped distances.
void same_rows(const Trial& trial, const Task& task, const Output& got, const Output& want,
               Measure& measure) {
  Case c = task.c;
  if (const auto* xl = std::get_if<TransformerXl>(&*task.c.encoding)) {
    for (std::int64_t& distance : c.positions) distance = clamped_distance(*xl, distance);
    c.encoding = sinusoids_of(*xl);
  }
  SameRows rows({c, task.operation, trial.kernel, trial.contract, trial.truths});
  for (std::size_t s = 0; s < c.positions.size(); ++s) {
    const std::size_t first = s * static_cast<std::size_t>(want.width);
    rows.judge(c.positions[s], got.values.data() + first, want.values.data() + first);
  }
  measure += std::move(rows).measure();
}

/// Biases of ALiBi within twice the contract's bound, T5's as they are in the table.
void same_biases(const Trial& trial, const Task& task, const std::vector<Output>& got,
                 const std::vector<Output>& want, Measure& measure) {
  const auto* alibi = std::get_if<Alibi>(&*task.c.encoding);
  if (!alibi) return same_bits(task, got, want, measure);
  if (measure.unit.empty()) measure.unit = "abs";
  const AlibiBounds bounds(trial.contract, *alibi);
  const std::vector<std::int64_t>& keys = task.c.key_positions();
  std::size_t at = 0;
  for (std::int64_t h = 0; h < alibi->heads; ++h) {
    for (const std::int64_t query : task.c.positions) {
      for (const std::int64_t key : keys) {
        const std::int64_t n = multiplier(alibi->form, query, key, keys.back());
        const float ours = got[0].values[at], theirs = want[0].values[at];
        ++at;
        const double error = ours == theirs ? 0 : std::fabs(double{ours} - double{theirs});
        measure.take(error, 2 * bounds(h, n, bounds.bias(h, n)), {query, h, "bias", ours, theirs});
      }
    }
  }
}

}  // namespace

void give_tables(Task& task, std::int64_t rows, std::int64_t pairs) {
  task.rows = rows;
  task.pairs = pairs;
  const std::int64_t width = row_width(task.form, pairs);
  task.cos.assign(static_cast<std::size_t>(rows * width), 0);
  task.sin.assign(holds_both(task.form) ? 0 : task.cos.size(), 0);
  Case uniform = task.c;
  uniform.mode = InputMode::uniform;
  uniform.dtype = task.c.table;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const TableSlots slots = table_slots(task.form, pairs, i);
      for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
        const std::int64_t at = row * width + copy * slots.copy_step;
        std::vector<float>& sin = holds_both(task.form) ? task.cos : task.sin;
        task.cos[static_cast<std::size_t>(at + slots.cos)] =
            input_element(uniform, 3, row * pairs + i, pairs);
        sin[static_cast<std::size_t>(at + slots.sin)] = input_element(uniform, 4, row * pairs + i, pairs);
      }
    }
  }
}

void give_learned(Task& task) {
  Case uniform = task.c;
  uniform.mode = InputMode::uniform;
  task.learned.clear();
  int stream = 3;
  for (const Tensor& shape : learned_shapes(task.operation, task.c)) {
    uniform.dtype = shape.dtype;
    std::vector<float>& table = task.learned.emplace_back();
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      table.push_back(input_element(uniform, stream, i, shape.dim(shape.rank - 1)));
    ++stream;
  }
}

Task task_of(const Trial& trial) {
  Task task{trial.operation, trial.c, {}, {}, {}, {}, 0, 0, {}, {}, {}};
  if (trial.operation == Operation::encode || trial.operation == Operation::bias ||
      trial.operation == Operation::buckets || trial.operation == Operation::relative) {
    give_learned(task);
    if (trial.operation != Operation::relative) return task;
  }
  Case keys = trial.c;
  keys.positions = trial.c.key_positions();
  task.q = make_heads(trial.c, 0).in;
  task.k = make_heads(keys, 1).in;
  task.v = make_heads(keys, 2).in;
  if (trial.operation == Operation::relative) return task;
  const std::vector<TableForm>& forms = trial.kernel.capabilities.forms;
  if (!forms.empty()) task.form = forms[scatter(trial.c.seed) % forms.size()];
  if (trial.operation == Operation::rotate_with_tables) {
    give_tables(task, trial.c.tokens() + 3, std::get<Rope>(*trial.c.encoding).pairs());
    for (std::int64_t& position : task.c.positions) position = std::abs(position) % task.rows;
  }
  return task;
}

Placement usual_placement(const Kernel& kernel, const Case& c) {
  Placement at;
  const std::vector<Layout>& layouts = kernel.capabilities.layouts;
  if (std::find(layouts.begin(), layouts.end(), Layout::bshd) == layouts.end() && !layouts.empty())
    at.layout = layouts.front();
  at.in_place = kernel.capabilities.in_place == Capabilities::InPlace::only;
  const auto is_narrow = [](std::int64_t p) { return p == static_cast<std::int32_t>(p); };
  const bool narrow = std::all_of(c.positions.begin(), c.positions.end(), is_narrow) &&
                      std::all_of(c.keys.begin(), c.keys.end(), is_narrow);
  if (narrow && scatter(c.seed) % 2 == 0) at.positions = DType::i32;
  return at;
}

Conduct perform(const Kernel& kernel, const Task& task, const Placement& at) {
  Stage stage(kernel, at);
  switch (task.operation) {
    case Operation::frequencies:
      frequencies(kernel, task, stage);
      break;
    case Operation::tables:
      tables(kernel, task, at, stage);
      break;
    case Operation::rotate:
    case Operation::rotate_with_tables:
    case Operation::rotate_backward:
      rotate(kernel, task, at, stage);
      break;
    case Operation::sequence:
      sequence(kernel, task, stage);
      break;
    case Operation::attention:
      attention(kernel, task, stage);
      break;
    case Operation::encode:
      encode(kernel, task, at, stage);
      break;
    case Operation::bias:
      bias(kernel, task, at, stage);
      break;
    case Operation::buckets:
      buckets(kernel, task, at, stage);
      break;
    case Operation::relative:
      relative(kernel, task, stage);
      break;
    case Operation::angles:
      throw std::logic_error(fmt::format("perform does not know {}", to_string(task.operation)));
  }
  return stage.finish();
}

std::vector<Output> outputs_of(const Kernel& kernel, const Task& task, const Placement& at) {
  Conduct conduct = perform(kernel, task, at);
  if (conduct.outside.witness)
    throw Misbehaved(fmt::format("the kernel wrote {}", conduct.outside.witness->function));
  if (conduct.inputs.witness)
    throw Misbehaved(fmt::format("the kernel changed its input {}", conduct.inputs.witness->function));
  return std::move(conduct.outputs);
}

void same_bits(const Task& task, const std::vector<Output>& got, const std::vector<Output>& want,
               Measure& measure) {
  if (measure.unit.empty()) measure.unit = "count";
  differences(task, got, want, measure,
              [&](std::size_t, std::size_t, const Witness& where) { measure.take(1, 0, where); });
}

void agree(const Trial& trial, const Task& task, const std::vector<Output>& got,
           const std::vector<Output>& want, Measure& measure) {
  if (trial.contract.bits_exact || task.operation == Operation::buckets)
    return same_bits(task, got, want, measure);
  if (task.operation == Operation::encode) return same_rows(trial, task, got[0], want[0], measure);
  if (task.operation == Operation::bias) return same_biases(trial, task, got, want, measure);
  if (measure.unit.empty()) measure.unit = "abs";
  std::vector<std::vector<double>> limits(want.size());
  differences(task, got, want, measure, [&](std::size_t o, std::size_t i, const Witness& where) {
    if (limits[o].empty()) {
      if (task.operation == Operation::tables) {
        limits[o] = table_limits(trial, task, o == 1);
      } else {
        limits[o] = o == 0 ? rotation_limits(trial, task, task.c.heads, task.q)
                           : rotation_limits(trial, task, task.c.kv_heads, task.k);
      }
    }
    measure.take(std::fabs(where.got - where.want), limits[o][i], where);
  });
}

std::optional<CaseSpace> behaviour_space(const std::optional<Encoding>& encoding, std::int64_t context,
                                         std::uint64_t) {
  if (!encoding || std::holds_alternative<Nope>(*encoding)) return std::nullopt;  // nope_layers has it
  CaseSpace space = space_of(*encoding, context);
  space.negative_positions = !std::holds_alternative<Learned>(*encoding);
  space.bounded_inputs = true;
  if (std::holds_alternative<Rope>(*encoding)) return space;
  space.keys = true;
  if (const auto* alibi = std::get_if<Alibi>(&*encoding)) space.heads = alibi->heads;
  if (const auto* learned = std::get_if<Learned>(&*encoding)) {
    Learned few = *learned;
    few.rows = std::min(few.rows, few.offset + kFewRows);
    space.encoding = few;
    space.keys = false;
    space.max_position = few.rows - few.offset - 1;
  }
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&*encoding)) {
    const PositionRange rows = positions_of(*sinusoidal);
    space.keys = false;
    space.negative_positions = rows.first < 0;
    space.max_position = std::min(space.max_position, rows.last);
  }
  if (const auto* shaw = std::get_if<Shaw>(&*encoding))
    space.encoding = Shaw{std::min(shaw->left, kFewRows), std::min(shaw->right, kFewRows), shaw->values};
  if (std::holds_alternative<Shaw>(*encoding) || std::holds_alternative<TransformerXl>(*encoding)) {
    // Tokens of `relative` stand where they are; query and key heads are as many.
    space.consecutive = true;
    space.heads = 2;
  }
  return space;
}

}  // namespace sextant
