// Buffers around a kernel's call.
#include "sextant/props/call.hpp"

#include <cmath>
#include <limits>

#include "sextant/fixtures/layout.hpp"
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
  const auto view = [](std::vector<float>& data, const Heads& heads) {
    return dense_heads(data.data(), DType::f32, Layout::bshd, heads.batch, heads.tokens, heads.heads,
                       heads.channels);
  };
  RotateCall call{encoding,
                  c.seq_len,
                  Layout::bshd,
                  dense(positions.data(), DType::i64, c.tokens()),
                  view(q.in, q),
                  view(k.in, k),
                  {},
                  view(q.out, q),
                  view(k.out, k),
                  {},
                  {},
                  0};
  kernel.rotate(call);
}

KernelFrequencies kernel_frequencies(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len) {
  const float poison = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t pairs = std::get<Rope>(encoding).pairs();
  KernelFrequencies result{std::vector<float>(static_cast<std::size_t>(pairs), poison), poison};
  kernel.frequencies({encoding, seq_len, dense(result.inv_freq.data(), DType::f32, pairs),
                      dense(&result.attention_factor, DType::f32, 1)});
  return result;
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
