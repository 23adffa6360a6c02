// Parsing the text form of encodings.
#include "sextant/reference/text_form.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sextant::text_form {

namespace {

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Node parse() {
    Node node = value(0);
    if (at_ != text_.size()) fail("nothing after the closing bracket");
    if (!node.fields) fail("name(key=value,...)");
    return node;
  }

 private:
  static constexpr int kMaxDepth = 4;

  [[noreturn]] void fail(std::string_view wanted) const {
    throw InputError(
        fmt::format("encoding \"{}\": at character {} expected {}", shorten(text_), at_ + 1, wanted));
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  std::string word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("(),=[] ").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Node value(int depth) {
    if (depth > kMaxDepth) fail("fewer nested values");
    if (take('[')) return {{}, numbers(), {}};
    Node node{word(), {}, {}};
    if (node.word.empty()) fail("a name or a number");
    if (!take('(')) return node;
    node.fields.emplace();
    if (take(')')) return node;
    do {
      std::string key = word();
      if (key.empty() || !take('=')) fail("key=value");
      for (const auto& [known, unused] : *node.fields) {
        if (known == key) fail(fmt::format("the key \"{}\" only once", key));
      }
      node.fields->emplace_back(std::move(key), value(depth + 1));
    } while (take(','));
    if (!take(')')) fail("\",\" or \")\"");
    return node;
  }
  std::vector<double> numbers() {
    std::vector<double> list;
    if (take(']')) return list;
    do {
      const std::optional<double> number = number_in(word());
      if (!number) fail("a number");
      list.push_back(*number);
    } while (take(','));
    if (!take(']')) fail("\",\" or \"]\"");
    return list;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Node parse(std::string_view text) { return Parser(text).parse(); }

Reader::Reader(const Node& node, std::string_view name) : name_(name) {
  if (!node.fields) throw InputError(fmt::format("{} needs its parameters: {}(key=value,...)", name_, name_));
  for (const auto& [key, value] : *node.fields) fields_.emplace(key, &value);
}

void Reader::fail(const std::string& complaint) const {
  throw InputError(fmt::format("{}: {}", name_, complaint));
}

const Node* Reader::find(const std::string& key) {
  const auto at = fields_.find(key);
  if (at == fields_.end()) return nullptr;
  known_.push_back(key);
  return at->second;
}

std::optional<double> Reader::number(const std::string& key) {
  const Node* node = find(key);
  if (!node) return std::nullopt;
  const std::optional<double> value = node->fields || node->list ? std::nullopt : number_in(node->word);
  if (!value) fail(fmt::format("{} must be a number, not \"{}\"", key, shorten(node->word)));
  return value;
}

std::optional<std::int64_t> Reader::integer(const std::string& key) {
  const std::optional<double> value = number(key);
  if (!value) return std::nullopt;
  if (!(std::fabs(*value) <= 0x1p53) || *value != std::trunc(*value))
    fail(fmt::format("{} must be a whole number, not {}", key, *value));
  return static_cast<std::int64_t>(*value);
}

std::vector<double> Reader::required_list(const std::string& key) {
  const Node* node = find(key);
  if (!node || !node->list) throw InputError(fmt::format("{} needs {}=[number,...]", name_, key));
  return *node->list;
}

std::optional<bool> Reader::flag(const std::string& key) {
  return one_of<bool>(key, {{"true", true}, {"false", false}});
}

std::optional<std::string> Reader::word(const std::string& key) {
  const Node* node = find(key);
  if (!node) return std::nullopt;
  if (node->fields || node->list) fail(fmt::format("{} must be a word", key));
  return node->word;
}

void Reader::finish() {
  for (const auto& [key, value] : fields_) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      throw InputError(fmt::format("{} has no key \"{}\"", name_, shorten(key)));
  }
}

void check_factor(std::string_view what, double value) {
  if (!std::isfinite(value) || value <= 0)
    throw InputError(fmt::format("{} is {}; a finite number > 0 is needed", what, value));
}

void check_whole(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    throw InputError(fmt::format("{} is {}; a whole number from {} to {} is needed", what, value, low, high));
}

}  // namespace sextant::text_form
