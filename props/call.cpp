// Buffers around a kernel's call.
#include "sextant/props/call.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {

Heads make_heads(const Case& c, int stream) {
  Heads heads{c.batch, c.tokens(), stream == 0 ? c.heads : c.kv_heads, c.head_dim, {}, {}};
  const std::int64_t count = heads.batch * heads.tokens * heads.heads * heads.channels;
  heads.in.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) heads.in.push_back(input_element(c, stream, i, c.head_dim));
  heads.out.assign(heads.in.size(), std::numeric_limits<float>::quiet_NaN());
  return heads;
}

namespace {

Tensor dense_view(Guarded& data, const Heads& heads) {
  return dense_heads(data.data(), DType::f32, Layout::bshd, heads.batch, heads.tokens, heads.heads,
                     heads.channels);
}

Tensor table_view(Guarded& data, TableForm form, std::int64_t rows, std::int64_t width) {
  return form == TableForm::polar ? dense(data.data(), DType::f32, rows, width / 2, 2)
                                  : dense(data.data(), DType::f32, rows, width);
}

Tensor positions_view(std::vector<std::int64_t>& positions, const Heads& heads) {
  if (static_cast<std::int64_t>(positions.size()) == heads.tokens)
    return dense(positions.data(), DType::i64, heads.tokens);
  return dense(positions.data(), DType::i64, heads.batch, heads.tokens);
}

/// One tensor of a call: its input and its output between canaries, the same buffer in place.
struct Stream {
  Heads* heads;
  const char* name;
  bool in_place;
  Guarded in, out;

  Stream(Heads* tensor, const char* called, bool same_buffer)
      : heads(tensor),
        name(called),
        in_place(same_buffer),
        in(tensor ? tensor->in : std::vector<float>()),
        out(tensor && !same_buffer ? tensor->out.size() : 0) {}

  Tensor input() { return heads ? dense_view(in, *heads) : Tensor{}; }
  Tensor output() { return heads ? dense_view(in_place ? in : out, *heads) : Tensor{}; }
  /// Checks the buffers and takes the result.
  void finish() {
    if (!heads) return;
    in.check_margins(name);
    out.check_margins(fmt::format("{}_out", name).c_str());
    if (!in_place) in.check_unchanged(heads->in, name);
    heads->out = in_place ? in.content() : out.content();
  }
};

}  // namespace

void rotate_heads(const Kernel& kernel, const Case& c, const Encoding& encoding, std::int64_t shift, Heads& q,
                  Heads& k) {
  std::vector<std::int64_t> positions = c.positions;
  for (std::int64_t& position : positions) position += shift;
  rotate_at(kernel, encoding, c.seq_len, std::move(positions), q, &k);
}

void rotate_at(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
               std::vector<std::int64_t> positions, Heads& q, Heads* k, Heads* v) {
  const std::vector<std::int64_t> positions_before = positions;
  const bool in_place = kernel.capabilities.in_place == Capabilities::InPlace::only;
  Stream q_stream(&q, "q", in_place), k_stream(k, "k", in_place), v_stream(v, "v", in_place);
  kernel.rotate({encoding,
                 seq_len,
                 Layout::bshd,
                 positions_view(positions, q),
                 q_stream.input(),
                 k_stream.input(),
                 v_stream.input(),
                 q_stream.output(),
                 k_stream.output(),
                 v_stream.output(),
                 {},
                 0});
  if (positions != positions_before) throw Misbehaved("the kernel changed its input positions");
  for (Stream* stream : {&q_stream, &k_stream, &v_stream}) stream->finish();
}

void rotate_by_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                      const KernelTables& tables, std::vector<std::int64_t> rows, Heads& q, Heads& k) {
  const bool in_place = kernel.capabilities.in_place == Capabilities::InPlace::only;
  Stream q_stream(&q, "q", in_place), k_stream(&k, "k", in_place);
  Guarded cos(tables.cos), sin(tables.sin);
  const std::int64_t count = static_cast<std::int64_t>(tables.cos.size()) / tables.width;
  kernel.rotate_with_tables(
      {{encoding,
        seq_len,
        Layout::bshd,
        rows.empty() ? Tensor{} : positions_view(rows, q),
        q_stream.input(),
        k_stream.input(),
        {},
        q_stream.output(),
        k_stream.output(),
        {},
        {},
        0},
       tables.form,
       table_view(cos, tables.form, count, tables.width),
       holds_both(tables.form) ? Tensor{} : table_view(sin, tables.form, count, tables.width)});
  cos.check_margins("cos");
  sin.check_margins("sin");
  cos.check_unchanged(tables.cos, "cos");
  sin.check_unchanged(tables.sin, "sin");
  for (Stream* stream : {&q_stream, &k_stream}) stream->finish();
}

KernelFrequencies kernel_frequencies(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len) {
  const std::int64_t pairs = std::get<Rope>(encoding).pairs();
  Guarded inv_freq(static_cast<std::size_t>(pairs)), factor(1);
  kernel.frequencies(
      {encoding, seq_len, dense(inv_freq.data(), DType::f32, pairs), dense(factor.data(), DType::f32, 1)});
  inv_freq.check_margins("inv_freq");
  factor.check_margins("attention_factor");
  return {inv_freq.content(), factor.content().front()};
}

KernelTables kernel_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                           std::vector<std::int64_t> positions) {
  return kernel_tables(kernel, encoding, seq_len, std::move(positions), kernel.capabilities.forms.front());
}

KernelTables kernel_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                           std::vector<std::int64_t> positions, TableForm form) {
  const auto tokens = static_cast<std::int64_t>(positions.size());
  const std::int64_t width = row_width(form, std::get<Rope>(encoding).pairs());
  const auto size = static_cast<std::size_t>(tokens * width);
  Guarded cos(size), sin(holds_both(form) ? 0 : size);
  kernel.tables({encoding, seq_len, dense(positions.data(), DType::i64, tokens), form,
                 table_view(cos, form, tokens, width),
                 holds_both(form) ? Tensor{} : table_view(sin, form, tokens, width)});
  cos.check_margins("cos");
  sin.check_margins("sin");
  return {form, width, cos.content(), sin.content()};
}

PairTruth pair_truth(const Rope& rope, const ExactRow& row, const Bounds& bounds, std::int64_t position,
                     std::int64_t pair, const float* x) {
  const PairChannels channels = pair_channels(rope.pairing, rope.dim, pair);
  const auto i = static_cast<std::size_t>(pair);
  const Wide c = row.cos[i];
  const Wide s = rope.direction < 0 ? -row.sin[i] : row.sin[i];
  PairTruth truth{};
  truth.x_a = x[channels.in_a];
  truth.x_b = x[channels.in_b];
  const Pair<Wide> y = rotate_pair(Wide(truth.x_a), Wide(truth.x_b), c, s);
  truth.y_a = y.a;
  truth.y_b = y.b;
  // Floats squared neither overflow nor lose a double's bits.
  truth.norm = bounds.attention_factor() * std::sqrt(truth.x_a * truth.x_a + truth.x_b * truth.x_b);
  truth.at = bounds.pair(pair, position, c.value(), s.value());
  truth.arithmetic_a = bounds.rotation(truth.at, truth.x_a, truth.x_b, c.value(), s.value());
  truth.arithmetic_b = bounds.rotation(truth.at, truth.x_b, truth.x_a, c.value(), s.value());
  return truth;
}

double rotation_error(const PairTruth& truth) {
  constexpr double u = 0x1p-24;
  return std::hypot(truth.arithmetic_a, truth.arithmetic_b) * (1 + u) + u * truth.norm * (1 + 0x1p-40);
}

}  // namespace sextant
