#include "sextant/props/relative_law.hpp"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <numeric>

#include "sextant/props/guarded.hpp"

namespace sextant {

std::int64_t DrawnTable::row_size() const {
  return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

const float* DrawnTable::row(std::int64_t row, std::int64_t head) const {
  return values.data() + row * row_size() + (shape.size() == 3 ? head * shape.back() : 0);
}

DrawnTable drawn_table(const Case& c, int stream, std::vector<std::int64_t> shape) {
  DrawnTable table{std::move(shape), {}};
  const std::int64_t count = table.shape.front() * table.row_size();
  for (std::int64_t i = 0; i < count; ++i)
    table.values.push_back(input_element(c, stream, i, table.shape.back()));
  return table;
}

RelativeInputs relative_inputs(const Case& c) {
  return {drawn_heads(c, 0, c.tokens(), c.heads),
          drawn_heads(c, 1, c.key_tokens(), c.heads),
          drawn_heads(c, 2, c.key_tokens(), c.heads),
          {},
          1 / std::sqrt(static_cast<double>(c.head_dim))};
}

RelativeOutputs run_relative(const Kernel& kernel, const Encoding& encoding, const RelativeInputs& in) {
  Guarded q(in.q.in), k(in.k.in), v(in.v.in);
  const auto heads = [](Guarded& data, const Heads& x, std::int64_t tokens) {
    return dense(data.data(), DType::f32, x.batch, tokens, x.heads, x.channels);
  };
  std::deque<Guarded> store;
  std::vector<Tensor> tables;
  for (const DrawnTable& table : in.tables) {
    Tensor view =
        dense(store.emplace_back(table.values).data(), DType::f32, table.shape.front(), table.shape.back());
    if (table.shape.size() == 3)
      view = dense(view.data, DType::f32, table.shape[0], table.shape[1], table.shape[2]);
    tables.push_back(view);
  }
  const auto rows = static_cast<std::size_t>(in.q.batch * in.q.heads * in.q.tokens);
  Guarded scores(rows * static_cast<std::size_t>(in.k.tokens)),
      out(rows * static_cast<std::size_t>(in.v.channels));
  kernel.relative({encoding, heads(q, in.q, in.q.tokens), heads(k, in.k, in.k.tokens),
                   heads(v, in.v, in.v.tokens), tables,
                   dense(scores.data(), DType::f32, in.q.batch, in.q.heads, in.q.tokens, in.k.tokens),
                   dense(out.data(), DType::f32, in.q.batch, in.q.tokens, in.q.heads, in.v.channels)});
  const auto check_input = [](const Guarded& data, const char* name) {
    data.check_margins(name);
    data.check_unchanged(name);
  };
  check_input(q, "q");
  check_input(k, "k");
  check_input(v, "v");
  for (std::size_t i = 0; i < store.size(); ++i) check_input(store[i], fmt::format("table {}", i).c_str());
  scores.check_margins("scores");
  out.check_margins("out");
  return {scores.content(), out.content()};
}

}  // namespace sextant
