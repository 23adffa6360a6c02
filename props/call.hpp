// Calling a kernel on a case: buffers, poisoned outputs, results as plain vectors.
#pragma once
#include <vector>

#include "sextant/props/law.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/wide.hpp"

namespace sextant {

/// q or k of a case as [batch, tokens, heads, head_dim], before and after the kernel, which sees `dtype`:
/// values that it holds.
struct Heads {
  std::int64_t batch, tokens, heads, channels;
  std::vector<float> in, out;
  DType dtype = DType::f32;

  [[nodiscard]] const float* in_head(std::int64_t b, std::int64_t s, std::int64_t h) const {
    return in.data() + at(b, s, h);
  }
  [[nodiscard]] const float* out_head(std::int64_t b, std::int64_t s, std::int64_t h) const {
    return out.data() + at(b, s, h);
  }
  [[nodiscard]] float* in_head(std::int64_t b, std::int64_t s, std::int64_t h) {
    return in.data() + at(b, s, h);
  }

 private:
  [[nodiscard]] std::size_t at(std::int64_t b, std::int64_t s, std::int64_t h) const {
    return static_cast<std::size_t>(((b * tokens + s) * heads + h) * channels);
  }
};

/// The inputs that a case describes: stream 0 is q (heads), 1 is k (kv_heads), 2 is v (kv_heads). Outputs are
/// NaN.
[[nodiscard]] Heads make_heads(const Case& c, int stream);

/// Runs `rotate` on q and k at the case's positions plus `shift`, with `encoding`, dense bshd, between
/// canaries. Throws Misbehaved where the kernel wrote outside its outputs or changed an input.
void rotate_heads(const Kernel& kernel, const Case& c, const Encoding& encoding, std::int64_t shift, Heads& q,
                  Heads& k);
/// The same with the gradients q and k of rotate's outputs, by `rotate_backward`.
void rotate_back(const Kernel& kernel, const Case& c, Heads& q, Heads& k);
/// The same for any tensors (k and v may be null) at `positions`, [tokens] or [batch, tokens].
void rotate_at(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
               std::vector<std::int64_t> positions, Heads& q, Heads* k = nullptr, Heads* v = nullptr);

/// Rotates documents packed into one row of tokens (layout thd): x is of batch 1, document i has the tokens
/// starts[i] .. starts[i + 1] - 1.
void rotate_packed(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                   std::vector<std::int64_t> positions, std::vector<std::int32_t> starts, Heads& x);

/// inv_freq and attention_factor as the kernel gives them.
struct KernelFrequencies {
  std::vector<float> inv_freq;
  float attention_factor;
};
[[nodiscard]] KernelFrequencies kernel_frequencies(const Kernel& kernel, const Encoding& encoding,
                                                   std::int64_t seq_len);

/// A kernel's tables [tokens, width] in its first form; sin is empty where the form holds both functions in
/// cos.
struct KernelTables {
  TableForm form;
  std::int64_t width;
  std::vector<float> cos, sin;
  DType dtype = DType::f32;

  [[nodiscard]] const std::vector<float>& sin_table() const { return holds_both(form) ? cos : sin; }
};
[[nodiscard]] KernelTables kernel_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                                         std::vector<std::int64_t> positions, DType dtype = DType::f32);
/// The same in a form of choice.
[[nodiscard]] KernelTables kernel_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                                         std::vector<std::int64_t> positions, TableForm form,
                                         DType dtype = DType::f32);

/// Runs `rotate_with_tables` on q and k as rotate_heads does. `rows` names the row of each token; without it
/// row s serves token s.
void rotate_by_tables(const Kernel& kernel, const Encoding& encoding, std::int64_t seq_len,
                      const KernelTables& tables, std::vector<std::int64_t> rows, Heads& q, Heads& k);

/// The exact rotation of one pair: A R(m w) (x_a, x_b), its norm, and the contract's bounds on it.
struct PairTruth {
  double x_a, x_b;
  Wide y_a, y_b;
  double norm;  ///< A |x|
  PairBound at;
  double arithmetic_a, arithmetic_b;  ///< Bounds::rotation of the two components
};
[[nodiscard]] PairTruth pair_truth(const Rope& rope, const ExactRow& row, const Bounds& bounds,
                                   std::int64_t position, std::int64_t pair, const float* x);
/// The gradient of that pair: x holds the gradients of rotate's output channels, y = A R(-m w) x.
[[nodiscard]] PairTruth backward_truth(const Rope& rope, const ExactRow& row, const Bounds& bounds,
                                       std::int64_t position, std::int64_t pair, const float* x);
/// The same where cos and sin are given, in `table`: the direction of the encoding applies to them.
[[nodiscard]] PairTruth given_truth(const Rope& rope, const Pair<Wide>& entry, const Format& table,
                                    const Bounds& bounds, std::int64_t pair, const float* x);
/// Bound on the length of a rotated pair's error apart from its angle: with y^ the exact rotation by the
/// kernel's own angle, |y~ - y^|.
[[nodiscard]] double rotation_error(const Bounds& bounds, const PairTruth& truth);

}  // namespace sextant
