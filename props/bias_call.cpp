// Buffers around a call for biases or buckets.
#include "sextant/props/bias_call.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "sextant/props/guarded.hpp"

namespace sextant {
namespace {

/// Positions in a buffer of their own, which a call must leave as they are.
class Places {
 public:
  Places(const std::vector<std::int64_t>& positions, std::int64_t shift, bool narrow) {
    for (const std::int64_t position : positions) wide_.push_back(position + shift);
    const auto fits = [](std::int64_t p) { return std::in_range<std::int32_t>(p); };
    if (narrow && std::all_of(wide_.begin(), wide_.end(), fits)) narrow_.assign(wide_.begin(), wide_.end());
    before_ = wide_;
  }
  [[nodiscard]] Tensor view() {
    return narrow_.empty() ? dense(wide_.data(), DType::i64, wide_.size())
                           : dense(narrow_.data(), DType::i32, narrow_.size());
  }
  void check_unchanged(const char* name) const {
    const bool same = narrow_.empty()
                          ? wide_ == before_
                          : std::equal(narrow_.begin(), narrow_.end(), before_.begin(), before_.end());
    if (!same) throw Misbehaved(fmt::format("the kernel changed its input {}", name));
  }

 private:
  std::vector<std::int64_t> wide_, before_;
  std::vector<std::int32_t> narrow_;
};

/// serve(positions of queries, positions of keys) between checks.
template <class Serve>
void with_places(const Case& c, std::int64_t shift, Serve serve) {
  const bool narrow = c.seed % 2 == 1;
  Places queries(c.positions, shift, narrow), keys(c.key_positions(), shift, narrow);
  serve(queries.view(), keys.view());
  queries.check_unchanged("query_positions");
  keys.check_unchanged("key_positions");
}

}  // namespace

std::vector<float> kernel_bias(const Trial& trial, const Encoding& encoding, std::int64_t heads,
                               std::int64_t shift, const std::vector<float>& table) {
  const Case& c = trial.c;
  Guarded bias(static_cast<std::size_t>(heads * c.tokens() * c.key_tokens()), c.dtype);
  Guarded given(table, c.dtype);
  const auto rows = static_cast<std::int64_t>(table.size()) / heads;
  with_places(c, shift, [&](const Tensor& queries, const Tensor& keys) {
    trial.kernel.bias({encoding, queries, keys, heads,
                       table.empty() ? Tensor{} : dense(given.data(), c.dtype, rows, heads),
                       dense(bias.data(), c.dtype, heads, c.tokens(), c.key_tokens())});
  });
  bias.check_margins("bias");
  given.check_margins("table");
  given.check_unchanged("table");
  return bias.content();
}

std::vector<std::int32_t> kernel_buckets(const Trial& trial, const Encoding& encoding, std::int64_t shift) {
  const Case& c = trial.c;
  Guarded buckets(static_cast<std::size_t>(c.tokens() * c.key_tokens()));
  with_places(c, shift, [&](const Tensor& queries, const Tensor& keys) {
    trial.kernel.buckets(
        {encoding, queries, keys, dense(buckets.data(), DType::i32, c.tokens(), c.key_tokens())});
  });
  buckets.check_margins("buckets");
  std::vector<std::int32_t> values;
  for (const float unit : buckets.content()) values.push_back(std::bit_cast<std::int32_t>(unit));
  return values;
}

}  // namespace sextant
