// Reading of documents.
#include "sextant/reports/input.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "sextant/reference/error.hpp"

namespace sextant {

using nlohmann::json;

std::string read_all(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw InputError(fmt::format("{}: is no regular file that can be read", path));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (size > (std::uintmax_t{1} << 30))
    throw InputError(fmt::format("{}: is over 1 GiB, which no such document is", path));
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    throw InputError(fmt::format("{}: cannot be read", path));
  return text;
}

std::string document_kind(std::string_view text) {
  text = text.substr(0, 512);
  constexpr std::string_view key = "\"document\"";
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t from = text.find('"', at + key.size());
  const std::size_t to = text.find('"', from == std::string_view::npos ? from : from + 1);
  if (to == std::string_view::npos) return {};
  return std::string(text.substr(from + 1, to - from - 1));
}

void refuse(const std::string& file, std::string_view what) {
  throw InputError(fmt::format("{}: {} (is it a whole document of this version?)", file, what));
}

const json& at(const json& object, const char* key, const std::string& file) {
  if (object.is_object()) {
    const auto found = object.find(key);
    if (found != object.end()) return *found;
  }
  refuse(file, fmt::format("the key \"{}\" is missing", key));
}

double number_at(const json& object, const char* key, const std::string& file) {
  const json& value = at(object, key, file);
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return NAN;
  if (value == "inf") return INFINITY;
  if (value == "-inf") return -INFINITY;
  refuse(file, fmt::format("{} is no number", key));
}

std::string text_at(const json& object, const char* key, const std::string& file) {
  const json& value = at(object, key, file);
  if (!value.is_string()) refuse(file, fmt::format("{} is no text", key));
  return value.get<std::string>();
}

bool flag_at(const json& object, const char* key, const std::string& file) {
  const json& value = at(object, key, file);
  if (!value.is_boolean()) refuse(file, fmt::format("{} is neither true nor false", key));
  return value.get<bool>();
}

const json& list_at(const json& object, const char* key, const std::string& file) {
  const json& value = at(object, key, file);
  if (!value.is_array()) refuse(file, fmt::format("{} is no list", key));
  return value;
}

nlohmann::ordered_json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

void hex_at(const json& object, const char* key, const std::string& file, std::uint64_t& high,
            std::uint64_t& low) {
  const std::string hex = text_at(object, key, file);
  const auto half = [&](std::size_t from, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(hex.data() + from, hex.data() + from + 16, value, 16);
    return error == std::errc() && end == hex.data() + from + 16;
  };
  if (hex.size() != 32 || !half(0, high) || !half(16, low))
    refuse(file, fmt::format("{} is no 32 hexadecimal digits", key));
}

}  // namespace sextant
