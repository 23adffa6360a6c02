// Writing tables as .npy and .safetensors files (interface.md 8).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/reference/distance.hpp"
#include "sextant/reference/table.hpp"

namespace sextant {

/// The bytes of a table file for `path`: .npy of [2, S, n] (cos, then sin), or .safetensors with tensors cos
/// and sin [S, n]. bf16 has no .npy type: it is written as uint16 bits. Throws InputError for another ending.
[[nodiscard]] std::string table_file(const std::string& path, const RoundedTable& table, std::size_t rows,
                                     std::size_t pairs, const Format& format);

}  // namespace sextant
