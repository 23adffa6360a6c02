// Calling a kernel for the biases or buckets of a case's queries and keys.
#pragma once
#include <cstdint>
#include <vector>

#include "sextant/props/law.hpp"

namespace sextant {

/// Positions of queries and keys as a kernel gets them: moved by `shift`, i32 where the seed is odd and they
/// fit, else i64.
[[nodiscard]] std::vector<float> kernel_bias(const Trial& trial, const Encoding& encoding, std::int64_t heads,
                                             std::int64_t shift = 0, const std::vector<float>& table = {});
/// [queries, keys]. kernel_bias is [heads, queries, keys], of the case's dtype. Both throw Misbehaved where
/// the kernel wrote outside its output or changed an input.
[[nodiscard]] std::vector<std::int32_t> kernel_buckets(const Trial& trial, const Encoding& encoding,
                                                       std::int64_t shift = 0);

}  // namespace sextant
