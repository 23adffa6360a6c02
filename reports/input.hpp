// Documents read back: whole files, and typed access to JSON that complains in one line.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace sextant {

/// A regular file of at most 1 GiB. Throws InputError.
[[nodiscard]] std::string read_all(const std::string& path);

/// What a document says it is ("run", "sweep", "grade", ..): the first value of "document" near its start.
[[nodiscard]] std::string document_kind(std::string_view text);

/// Throws InputError: what is wrong in `file`, and the question that helps.
[[noreturn]] void refuse(const std::string& file, std::string_view what);

[[nodiscard]] const nlohmann::json& at(const nlohmann::json& object, const char* key,
                                       const std::string& file);
/// Numbers, and "inf", "-inf" and "nan".
[[nodiscard]] double number_at(const nlohmann::json& object, const char* key, const std::string& file);
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key, const std::string& file);
[[nodiscard]] bool flag_at(const nlohmann::json& object, const char* key, const std::string& file);
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& object, const char* key,
                                            const std::string& file);

template <class Integer>
[[nodiscard]] Integer integer_at(const nlohmann::json& object, const char* key, const std::string& file) {
  const nlohmann::json& value = at(object, key, file);
  if (!value.is_number_integer()) refuse(file, fmt::format("{} is no whole number", key));
  if constexpr (std::is_unsigned_v<Integer>) {
    if (!value.is_number_unsigned()) refuse(file, fmt::format("{} is negative", key));
  } else if (value.is_number_unsigned() &&
             value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) {
    refuse(file, fmt::format("{} is too large", key));
  }
  return value.get<Integer>();
}

/// A number as documents hold it: non-finite ones as "inf", "-inf" and "nan".
[[nodiscard]] nlohmann::ordered_json number(double value);

/// 32 hexadecimal digits.
template <class Sum>
[[nodiscard]] std::string hex_of(const Sum& sum) {
  return fmt::format("{:016x}{:016x}", sum.high, sum.low);
}
/// Throws InputError naming the key.
void hex_at(const nlohmann::json& object, const char* key, const std::string& file, std::uint64_t& high,
            std::uint64_t& low);

}  // namespace sextant
