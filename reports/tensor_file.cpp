// Bytes of .npy (format version 1.0) and .safetensors files, little-endian.
#include "sextant/reports/tensor_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

static_assert(std::endian::native == std::endian::little);

/// The bits of a value that `format` holds exactly.
std::uint64_t bits_in(double value, const Format& format) {
  if (format.precision == 53) return std::bit_cast<std::uint64_t>(value);
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (format.precision == 24) return single;
  if (format.precision == 8) return single >> 16;
  // float16: 5 exponent bits with bias 15; subnormals are multiples of 2^-24.
  const std::uint64_t sign = (single >> 31) << 15;
  const double magnitude = std::fabs(value);
  if (magnitude > format.largest) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, 24));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(magnitude, 10 - exponent)) & 0x3ff;
  return sign | (static_cast<std::uint64_t>(exponent + 15) << 10) | fraction;
}

std::size_t width_of(const Format& format) {
  return format.precision == 53 ? 8 : format.precision == 24 ? 4 : 2;
}

void append(std::string& bytes, const std::vector<double>& values, const Format& format) {
  for (const double value : values) {
    const std::uint64_t bits = bits_in(value, format);
    bytes.append(reinterpret_cast<const char*>(&bits), width_of(format));
  }
}

std::string npy(const RoundedTable& table, std::size_t rows, std::size_t pairs, const Format& format) {
  const char* type = format.precision == 53   ? "<f8"
                     : format.precision == 24 ? "<f4"
                     : format.precision == 11 ? "<f2"
                                              : "<u2";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (2, {}, {}), }}", type, rows, pairs);
  const std::size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.append(reinterpret_cast<const char*>(&length), 2);
  bytes += header;
  append(bytes, table.cos, format);
  append(bytes, table.sin, format);
  return bytes;
}

std::string safetensors(const RoundedTable& table, std::size_t rows, std::size_t pairs,
                        const Format& format) {
  const char* type = format.precision == 53   ? "F64"
                     : format.precision == 24 ? "F32"
                     : format.precision == 11 ? "F16"
                                              : "BF16";
  const std::size_t size = rows * pairs * width_of(format);
  const nlohmann::ordered_json header = {
      {"cos", {{"dtype", type}, {"shape", {rows, pairs}}, {"data_offsets", {0, size}}}},
      {"sin", {{"dtype", type}, {"shape", {rows, pairs}}, {"data_offsets", {size, 2 * size}}}}};
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  bytes += text;
  append(bytes, table.cos, format);
  append(bytes, table.sin, format);
  return bytes;
}

}  // namespace

std::string table_file(const std::string& path, const RoundedTable& table, std::size_t rows,
                       std::size_t pairs, const Format& format) {
  if (path.ends_with(".npy")) return npy(table, rows, pairs, format);
  if (path.ends_with(".safetensors")) return safetensors(table, rows, pairs, format);
  throw InputError(fmt::format("--out {}: the name must end in .npy or .safetensors", path));
}

}  // namespace sextant
