// The text form name(key=value,...) of encodings: printing it, and taking it apart with complaints that name
// the place and what would be right.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/reference/error.hpp"

namespace sextant::text_form {

/// key=value pairs in the order given; optional values that are absent and values equal to the default are
/// left out.
class Printer {
 public:
  explicit Printer(std::string_view name) : text_(fmt::format("{}(", name)) {}
  Printer& add(std::string_view key, const std::string& value) {
    text_ += fmt::format("{}{}={}", first_ ? "" : ",", key, value);
    first_ = false;
    return *this;
  }
  Printer& add(std::string_view key, double value) { return add(key, fmt::format("{}", value)); }
  Printer& add(std::string_view key, std::int64_t value) { return add(key, fmt::format("{}", value)); }
  Printer& add(std::string_view key, const std::vector<double>& list) {
    return add(key, fmt::format("[{}]", fmt::join(list, ",")));
  }
  template <class T>
  Printer& add(std::string_view key, const std::optional<T>& value) {
    return value ? add(key, *value) : *this;
  }
  template <class T>
  Printer& add_unless(const T& usual, std::string_view key, const T& value) {
    return value == usual ? *this : add(key, value);
  }
  [[nodiscard]] std::string done() const { return text_ + ")"; }

 private:
  std::string text_;
  bool first_ = true;
};

struct Node;
using Fields = std::vector<std::pair<std::string, Node>>;

/// A parsed value: a bare word or number, a list of numbers, or name(key=value,...).
struct Node {
  std::string word;
  std::optional<std::vector<double>> list;
  std::optional<Fields> fields;
};

/// As much of a foreign text as a complaint shows.
[[nodiscard]] inline std::string_view shorten(std::string_view text) { return text.substr(0, 80); }

/// Throws InputError for anything but name(key=value,...).
[[nodiscard]] Node parse(std::string_view text);

/// Takes fields out of a node by key; what is left at the end is an unknown key. Every getter throws
/// InputError where the value is of another kind.
class Reader {
 public:
  Reader(const Node& node, std::string_view name);

  [[nodiscard]] const Node* find(const std::string& key);
  [[nodiscard]] std::optional<double> number(const std::string& key);
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key);
  [[nodiscard]] double required_number(const std::string& key) { return required(key, number(key)); }
  [[nodiscard]] std::int64_t required_integer(const std::string& key) { return required(key, integer(key)); }
  [[nodiscard]] std::vector<double> required_list(const std::string& key);
  [[nodiscard]] std::optional<bool> flag(const std::string& key);
  [[nodiscard]] bool required_flag(const std::string& key) { return required(key, flag(key)); }
  /// The value whose name stands there, or nothing where the key is absent.
  template <class Value>
  [[nodiscard]] std::optional<Value> one_of(const std::string& key,
                                            std::initializer_list<std::pair<const char*, Value>> known) {
    const std::optional<std::string> given = word(key);
    if (!given) return std::nullopt;
    std::string names;
    for (const auto& [name, value] : known) {
      if (*given == name) return value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    fail(fmt::format("{} must be one of {}, not \"{}\"", key, names, shorten(*given)));
  }
  /// Throws where a key was never asked for.
  void finish();

 private:
  [[noreturn]] void fail(const std::string& complaint) const;
  [[nodiscard]] std::optional<std::string> word(const std::string& key);
  template <class T>
  T required(const std::string& key, std::optional<T> value) {
    if (!value) throw InputError(fmt::format("{} needs the key \"{}\"", name_, key));
    return *value;
  }

  std::string name_;
  std::map<std::string, const Node*> fields_;
  std::vector<std::string> known_;
};

/// Complaints of validity: "WHAT is VALUE; NEEDED is needed".
void check_factor(std::string_view what, double value);
void check_whole(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace sextant::text_form
