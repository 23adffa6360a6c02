// Buffers around a kernel's call.
#include "sextant/props/call.hpp"

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

void rotate_heads(const Kernel& kernel, const Case& c, const Encoding& encoding, std::int64_t shift, Heads& q,
                  Heads& k) {
  std::vector<std::int64_t> positions = c.positions;
  for (std::int64_t& position : positions) position += shift;
  const std::vector<std::int64_t> positions_before = positions;
  const bool in_place = kernel.capabilities.in_place == Capabilities::InPlace::only;
  Guarded q_in(q.in), k_in(k.in), q_out(q.out.size()), k_out(k.out.size());
  Guarded& q_result = in_place ? q_in : q_out;
  Guarded& k_result = in_place ? k_in : k_out;
  const auto view = [](Guarded& data, const Heads& heads) {
    return dense_heads(data.data(), DType::f32, Layout::bshd, heads.batch, heads.tokens, heads.heads,
                       heads.channels);
  };
  RotateCall call{encoding,
                  c.seq_len,
                  Layout::bshd,
                  dense(positions.data(), DType::i64, c.tokens()),
                  view(q_in, q),
                  view(k_in, k),
                  {},
                  view(q_result, q),
                  view(k_result, k),
                  {},
                  {},
                  0};
  kernel.rotate(call);
  q_in.check_margins("q");
  k_in.check_margins("k");
  q_out.check_margins("the rotated q");
  k_out.check_margins("the rotated k");
  if (positions != positions_before) throw Misbehaved("the kernel changed its input positions");
  if (!in_place) {
    q_in.check_unchanged(q.in, "q");
    k_in.check_unchanged(k.in, "k");
  }
  q.out = q_result.content();
  k.out = k_result.content();
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
  const auto tokens = static_cast<std::int64_t>(positions.size());
  const TableForm form = kernel.capabilities.forms.front();
  const std::int64_t width = row_width(form, std::get<Rope>(encoding).pairs());
  const auto size = static_cast<std::size_t>(tokens * width);
  Guarded cos(size), sin(holds_both(form) ? 0 : size);
  const auto view = [&](Guarded& data) {
    return form == TableForm::polar ? dense(data.data(), DType::f32, tokens, width / 2, 2)
                                    : dense(data.data(), DType::f32, tokens, width);
  };
  kernel.tables({encoding, seq_len, dense(positions.data(), DType::i64, tokens), form, view(cos),
                 holds_both(form) ? Tensor{} : view(sin)});
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
  truth.norm = bounds.attention_factor() * std::hypot(truth.x_a, truth.x_b);
  truth.at = bounds.pair(pair, position, c.value(), s.value());
  truth.arithmetic_a = bounds.rotation(truth.at, truth.x_a, truth.x_b, c.value(), s.value());
  truth.arithmetic_b = bounds.rotation(truth.at, truth.x_b, truth.x_a, c.value(), s.value());
  return truth;
}

}  // namespace sextant
