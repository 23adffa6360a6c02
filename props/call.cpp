// Buffers around a kernel's call.
#include "sextant/props/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <utility>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {

namespace {

/// The inputs of a case, kept for the next kernels that are sent the same ones.
const std::vector<float>& inputs_of(const Case& c, int stream, std::int64_t heads) {
  struct Entry {
    Case c;
    int stream;
    std::vector<float> values;
  };
  constexpr std::size_t kKept = 12;  // three streams in each dtype, and a few more
  thread_local std::list<Entry> entries;
  for (const Entry& entry : entries) {
    if (entry.stream == stream && entry.c == c) return entry.values;
  }
  if (entries.size() >= kKept) entries.pop_back();
  std::vector<float>& values = entries.emplace_front(Entry{c, stream, {}}).values;
  const std::int64_t count = c.batch * c.tokens() * heads * c.head_dim;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values.push_back(input_element(c, stream, i, c.head_dim));
  return values;
}

}  // namespace

Heads make_heads(const Case& c, int stream) {
  Heads heads{c.batch, c.tokens(), stream == 0 ? c.heads : c.kv_heads, c.head_dim, {}, {}, c.dtype};
  heads.in = inputs_of(c, stream, heads.heads);
  heads.out.assign(heads.in.size(), std::numeric_limits<float>::quiet_NaN());
  return heads;
}

namespace {

/// The layout of all calls here: bshd where offered.
Layout layout_of(const Kernel& kernel) {
  const std::vector<Layout>& offered = kernel.capabilities.layouts;
  const bool usual =
      offered.empty() || std::find(offered.begin(), offered.end(), Layout::bshd) != offered.end();
  return usual ? Layout::bshd : offered.front();
}

/// [batch, tokens, heads, channels] into the order of a layout, or back from it.
std::vector<float> reordered(const Heads& heads, Layout layout, const std::vector<float>& from, bool back) {
  if (layout == Layout::bshd || layout == Layout::thd) return from;
  std::vector<float> to(from.size());
  const HeadView there = head_view(
      dense_heads(nullptr, heads.dtype, layout, heads.batch, heads.tokens, heads.heads, heads.channels),
      layout);
  auto here = std::ptrdiff_t{0};
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t s = 0; s < heads.tokens; ++s) {
      for (std::int64_t h = 0; h < heads.heads; ++h, here += heads.channels) {
        const std::ptrdiff_t at = there.offset(b, s, h);
        std::copy_n(from.begin() + (back ? at : here), heads.channels, to.begin() + (back ? here : at));
      }
    }
  }
  return to;
}

Tensor table_view(Guarded& data, TableForm form, DType dtype, std::int64_t rows, std::int64_t width) {
  return form == TableForm::polar ? dense(data.data(), dtype, rows, width / 2, 2)
                                  : dense(data.data(), dtype, rows, width);
}

Tensor positions_view(std::vector<std::int64_t>& positions, const Heads& heads) {
  if (static_cast<std::int64_t>(positions.size()) == heads.tokens)
    return dense(positions.data(), DType::i64, heads.tokens);
  return dense(positions.data(), DType::i64, heads.batch, heads.tokens);
}

/// Positions of every token, and where documents start, in the form that a layout asks for.
struct Places {
  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> starts;
  Tensor view, cu_seqlens;

  Places(Layout layout, std::vector<std::int64_t> given, const Heads& heads) : positions(std::move(given)) {
    if (positions.empty()) return;
    if (layout != Layout::thd) {
      view = positions_view(positions, heads);
      return;
    }
    const std::vector<std::int64_t> row = positions;
    for (std::int64_t b = 1; b < heads.batch && static_cast<std::int64_t>(row.size()) == heads.tokens; ++b)
      positions.insert(positions.end(), row.begin(), row.end());
    for (std::int64_t b = 0; b <= heads.batch; ++b)
      starts.push_back(static_cast<std::int32_t>(b * heads.tokens));
    view = dense(positions.data(), DType::i64, positions.size());
    cu_seqlens = dense(starts.data(), DType::i32, starts.size());
  }
};

/// One tensor of a call: its input and its output between canaries, the same buffer in place.
struct Stream {
  Heads* heads;
  const char* name;
  Layout layout;
  bool in_place;
  Guarded in, out;

  Stream(const Kernel& kernel, Heads* tensor, const char* called)
      : Stream(kernel, layout_of(kernel), tensor, called) {}
  Stream(const Kernel& kernel, Layout in_layout, Heads* tensor, const char* called)
      : heads(tensor),
        name(called),
        layout(in_layout),
        in_place(kernel.capabilities.in_place == Capabilities::InPlace::only),
        in(tensor ? reordered(*tensor, layout, tensor->in, false) : std::vector<float>(),
           tensor ? tensor->dtype : DType::f32),
        out(tensor && !in_place ? tensor->out.size() : 0, tensor ? tensor->dtype : DType::f32) {}

  Tensor input() { return heads ? view(in) : Tensor{}; }
  Tensor output() { return heads ? view(in_place ? in : out) : Tensor{}; }
  /// Checks the buffers and takes the result.
  void finish() {
    if (!heads) return;
    in.check_margins(name);
    out.check_margins(fmt::format("{}_out", name).c_str());
    if (!in_place) in.check_unchanged(name);
    heads->out = reordered(*heads, layout, in_place ? in.content() : out.content(), true);
  }

 private:
  Tensor view(Guarded& data) const {
    return dense_heads(data.data(), heads->dtype, layout, heads->batch, heads->tokens, heads->heads,
                       heads->channels);
  }
};

}  // namespace

void rotate_heads(const Kernel& kernel, const Case& c, const Encoding& encoding, std::int64_t shift, Heads& q,
                  Heads& k) {
  std::vector<std::int64_t> positions = c.positions;
  for (std::int64_t& position : positions) position += shift;
  rotate_at(kernel, encoding, c.seq_len, std::move(positions), q, &k);
}

namespace {

/// rotate or rotate_backward.
void rotate_by(const std::function<void(const RotateCall&)>& rotate, const Kernel& kernel,
               const Encoding& encoding, std::int64_t seq_len, std::vector<std::int64_t> positions, Heads& q,
               Heads* k, Heads* v) {
  const Layout layout = layout_of(kernel);
  const Places places(layout, std::move(positions), q);
  const std::vector<std::int64_t> positions_before = places.positions;
  Stream q_stream(kernel, &q, "q"), k_stream(kernel, k, "k"), v_stream(kernel, v, "v");
  rotate({encoding, seq_len, layout, places.view, q_stream.input(), k_stream.input(), v_stream.input(),
          q_stream.output(), k_stream.output(), v_stream.output(), places.cu_seqlens, 0});
  if (places.positions != positions_before) throw Misbehaved("the kernel changed its input positions");
  for (Stream* stream : {&q_stream, &k_stream, &v_stream}) stream->finish();
}

}  // namespace

void rotate_at(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
               std::vector<std::int64_t> positions, Heads& q, Heads* k, Heads* v) {
  rotate_by(kernel.rotate, kernel, encoding, seq_len, std::move(positions), q, k, v);
}

void rotate_packed(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                   std::vector<std::int64_t> positions, std::vector<std::int32_t> starts, Heads& x) {
  Stream stream(kernel, Layout::thd, &x, "q");
  kernel.rotate({encoding,
                 seq_len,
                 Layout::thd,
                 dense(positions.data(), DType::i64, positions.size()),
                 stream.input(),
                 {},
                 {},
                 stream.output(),
                 {},
                 {},
                 dense(starts.data(), DType::i32, starts.size()),
                 0});
  stream.finish();
}

void rotate_back(const Kernel& kernel, const Case& c, Heads& q, Heads& k) {
  rotate_by(kernel.rotate_backward, kernel, *c.encoding, c.seq_len, c.positions, q, &k, nullptr);
}

void rotate_by_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                      const KernelTables& tables, std::vector<std::int64_t> rows, Heads& q, Heads& k) {
  const Layout layout = layout_of(kernel);
  if (rows.empty() && layout == Layout::thd) {
    // There row s would serve token s of the first document alone.
    rows.resize(static_cast<std::size_t>(q.tokens));
    std::iota(rows.begin(), rows.end(), 0);
  }
  const Places places(layout, std::move(rows), q);
  Stream q_stream(kernel, &q, "q"), k_stream(kernel, &k, "k");
  Guarded cos(tables.cos, tables.dtype), sin(tables.sin, tables.dtype);
  const std::int64_t count = static_cast<std::int64_t>(tables.cos.size()) / tables.width;
  kernel.rotate_with_tables(
      {{encoding,
        seq_len,
        layout,
        places.view,
        q_stream.input(),
        k_stream.input(),
        {},
        q_stream.output(),
        k_stream.output(),
        {},
        places.cu_seqlens,
        0},
       tables.form,
       table_view(cos, tables.form, tables.dtype, count, tables.width),
       holds_both(tables.form) ? Tensor{} : table_view(sin, tables.form, tables.dtype, count, tables.width)});
  cos.check_margins("cos");
  sin.check_margins("sin");
  cos.check_unchanged("cos");
  sin.check_unchanged("sin");
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
                           std::vector<std::int64_t> positions, DType dtype) {
  return kernel_tables(kernel, encoding, seq_len, std::move(positions), kernel.capabilities.forms.front(),
                       dtype);
}

KernelTables kernel_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                           std::vector<std::int64_t> positions, TableForm form, DType dtype) {
  const auto tokens = static_cast<std::int64_t>(positions.size());
  const std::int64_t width = row_width(form, std::get<Rope>(encoding).pairs());
  const auto size = static_cast<std::size_t>(tokens * width);
  Guarded cos(size, dtype), sin(holds_both(form) ? 0 : size, dtype);
  kernel.tables({encoding, seq_len, dense(positions.data(), DType::i64, tokens), form,
                 table_view(cos, form, dtype, tokens, width),
                 holds_both(form) ? Tensor{} : table_view(sin, form, dtype, tokens, width)});
  cos.check_margins("cos");
  sin.check_margins("sin");
  return {form, width, cos.content(), sin.content(), dtype};
}

namespace {

/// The rotation of (x_a, x_b) by A cos and A sin, apart from its bounds.
PairTruth turned(double x_a, double x_b, const Wide& cos, const Wide& sin) {
  const Pair<Wide> y = rotate_pair(Wide(x_a), Wide(x_b), cos, sin);
  return {x_a, x_b, y.a, y.b, 0, {}, 0, 0};
}

void take_bounds(const Bounds& bounds, const PairBound& at, const Wide& cos, const Wide& sin,
                 PairTruth& truth) {
  truth.at = at;
  truth.arithmetic_a = bounds.rotation(at, truth.x_a, truth.x_b, cos.value(), sin.value());
  truth.arithmetic_b = bounds.rotation(at, truth.x_b, truth.x_a, cos.value(), sin.value());
}

PairTruth exact_truth(const ExactRow& row, const Bounds& bounds, std::int64_t position, std::int64_t pair,
                      int direction, double x_a, double x_b) {
  const auto i = static_cast<std::size_t>(pair);
  const Wide c = row.cos[i];
  const Wide s = direction < 0 ? -row.sin[i] : row.sin[i];
  PairTruth truth = turned(x_a, x_b, c, s);
  // Floats squared neither overflow nor lose a double's bits.
  truth.norm = bounds.attention_factor() * std::sqrt(x_a * x_a + x_b * x_b);
  take_bounds(bounds, bounds.pair(pair, position, c.value(), s.value()), c, s, truth);
  return truth;
}

}  // namespace

PairTruth pair_truth(const Rope& rope, const ExactRow& row, const Bounds& bounds, std::int64_t position,
                     std::int64_t pair, const float* x) {
  const PairChannels at = pair_channels(rope.pairing, rope.dim, pair);
  return exact_truth(row, bounds, position, pair, static_cast<int>(rope.direction), x[at.in_a], x[at.in_b]);
}

PairTruth backward_truth(const Rope& rope, const ExactRow& row, const Bounds& bounds, std::int64_t position,
                         std::int64_t pair, const float* x) {
  const PairChannels at = pair_channels(rope.pairing, rope.dim, pair);
  return exact_truth(row, bounds, position, pair, -static_cast<int>(rope.direction), x[at.out_a],
                     x[at.out_b]);
}

PairTruth given_truth(const Rope& rope, const Pair<Wide>& entry, const Format& table, const Bounds& bounds,
                      std::int64_t pair, const float* x) {
  const PairChannels at = pair_channels(rope.pairing, rope.dim, pair);
  const Wide s = rope.direction < 0 ? -entry.b : entry.b;
  PairTruth truth = turned(x[at.in_a], x[at.in_b], entry.a, s);
  truth.norm = std::hypot(truth.x_a, truth.x_b) * std::hypot(entry.a.value(), s.value());
  take_bounds(bounds, bounds.given(entry.a.value(), s.value(), table), entry.a, s, truth);
  return truth;
}

double rotation_error(const Bounds& bounds, const PairTruth& truth) {
  return bounds.rotation_error(truth.arithmetic_a, truth.arithmetic_b, truth.norm);
}

}  // namespace sextant
