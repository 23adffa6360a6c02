// Text form and validity of encodings.
#include "sextant/reference/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

template <class... Functions>
struct Overload : Functions... {
  using Functions::operator()...;
};

// ---- printing ----

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

std::string print(const Scaling& scaling) {
  const std::string name(scaling_name(scaling));
  return std::visit(
      Overload{
          [](const scaling::None&) { return std::string(); },
          [&](const scaling::Linear& s) { return Printer(name).add("factor", s.factor).done(); },
          [&](const scaling::Ntk& s) { return Printer(name).add("factor", s.factor).done(); },
          [&](const scaling::Alpha& s) { return Printer(name).add("alpha", s.alpha).done(); },
          [&](const scaling::Dynamic& s) {
            return Printer(name).add("factor", s.factor).add("max_position", s.max_position).done();
          },
          [&](const scaling::Yarn& s) {
            Printer printer(name);
            printer.add("factor", s.factor).add("original", s.original).add("max_position", s.max_position);
            printer.add_unless(32.0, "beta_fast", s.beta_fast).add_unless(1.0, "beta_slow", s.beta_slow);
            if (!s.truncate) printer.add("truncate", std::string("false"));
            return printer.add("mscale", s.mscale)
                .add("mscale_all_dim", s.mscale_all_dim)
                .add("attention_factor", s.attention_factor)
                .done();
          },
          [&](const scaling::Llama3& s) {
            return Printer(name)
                .add("factor", s.factor)
                .add("low", s.low)
                .add("high", s.high)
                .add("original", s.original)
                .done();
          },
          [&](const scaling::LongRope& s) {
            return Printer(name)
                .add("original", s.original)
                .add("factor", s.factor)
                .add("max_position", s.max_position)
                .add("short", s.short_factor)
                .add("long", s.long_factor)
                .add("attention_factor", s.attention_factor)
                .done();
          },
          [&](const scaling::Proportional& s) {
            return Printer(name).add("fraction", s.fraction).add_unless(1.0, "factor", s.factor).done();
          },
      },
      scaling);
}

// ---- parsing ----

struct Node;
using Fields = std::vector<std::pair<std::string, Node>>;

/// A parsed value: a bare word or number, a list of numbers, or name(key=value,...).
struct Node {
  std::string word;
  std::optional<std::vector<double>> list;
  std::optional<Fields> fields;
};

std::string_view shorten(std::string_view text) { return text.substr(0, 80); }

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

/// Takes fields out of a node by key; what is left at the end is an unknown key.
class Reader {
 public:
  Reader(const Node& node, std::string_view name) : name_(name) {
    if (!node.fields)
      throw InputError(fmt::format("{} needs its parameters: {}(key=value,...)", name_, name_));
    for (const auto& [key, value] : *node.fields) fields_.emplace(key, &value);
  }

  const Node* find(const std::string& key) {
    const auto at = fields_.find(key);
    if (at == fields_.end()) return nullptr;
    known_.push_back(key);
    return at->second;
  }
  std::optional<double> number(const std::string& key) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    const std::optional<double> value = node->fields || node->list ? std::nullopt : number_in(node->word);
    if (!value)
      throw InputError(fmt::format("{}: {} must be a number, not \"{}\"", name_, key, shorten(node->word)));
    return value;
  }
  std::optional<std::int64_t> integer(const std::string& key) {
    const std::optional<double> value = number(key);
    if (!value) return std::nullopt;
    if (!(std::fabs(*value) <= 0x1p53) || *value != std::trunc(*value)) {
      throw InputError(fmt::format("{}: {} must be a whole number, not {}", name_, key, *value));
    }
    return static_cast<std::int64_t>(*value);
  }
  template <class T>
  T required(const std::string& key, std::optional<T> value) {
    if (!value) throw InputError(fmt::format("{} needs the key \"{}\"", name_, key));
    return *value;
  }
  double required_number(const std::string& key) { return required(key, number(key)); }
  std::int64_t required_integer(const std::string& key) { return required(key, integer(key)); }
  std::vector<double> required_list(const std::string& key) {
    const Node* node = find(key);
    if (!node || !node->list) throw InputError(fmt::format("{} needs {}=[number,...]", name_, key));
    return *node->list;
  }
  std::optional<std::string> word(const std::string& key) {
    const Node* node = find(key);
    if (!node) return std::nullopt;
    if (node->fields || node->list) throw InputError(fmt::format("{}: {} must be a word", name_, key));
    return node->word;
  }
  void finish() {
    for (const auto& [key, value] : fields_) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        throw InputError(fmt::format("{} has no key \"{}\"", name_, shorten(key)));
      }
    }
  }

 private:
  std::string name_;
  std::map<std::string, const Node*> fields_;
  std::vector<std::string> known_;
};

Scaling read_scaling(const Node& node) {
  const std::string& name = node.word;
  Reader reader(node, name);
  Scaling result;
  if (name == "linear") {
    result = scaling::Linear{reader.required_number("factor")};
  } else if (name == "ntk") {
    result = scaling::Ntk{reader.required_number("factor")};
  } else if (name == "alpha") {
    result = scaling::Alpha{reader.required_number("alpha")};
  } else if (name == "dynamic") {
    result = scaling::Dynamic{reader.required_number("factor"), reader.required_integer("max_position")};
  } else if (name == "yarn") {
    scaling::Yarn yarn;
    yarn.factor = reader.number("factor");
    yarn.original = reader.required_integer("original");
    yarn.max_position = reader.integer("max_position");
    yarn.beta_fast = reader.number("beta_fast").value_or(32);
    yarn.beta_slow = reader.number("beta_slow").value_or(1);
    const std::string truncate = reader.word("truncate").value_or("true");
    if (truncate != "true" && truncate != "false") {
      throw InputError(fmt::format("yarn: truncate must be true or false, not \"{}\"", shorten(truncate)));
    }
    yarn.truncate = truncate == "true";
    yarn.mscale = reader.number("mscale");
    yarn.mscale_all_dim = reader.number("mscale_all_dim");
    yarn.attention_factor = reader.number("attention_factor");
    result = yarn;
  } else if (name == "llama3") {
    result = scaling::Llama3{reader.required_number("factor"), reader.required_number("low"),
                             reader.required_number("high"), reader.required_integer("original")};
  } else if (name == "longrope") {
    scaling::LongRope longrope;
    longrope.original = reader.required_integer("original");
    longrope.factor = reader.number("factor");
    longrope.max_position = reader.integer("max_position");
    longrope.short_factor = reader.required_list("short");
    longrope.long_factor = reader.required_list("long");
    longrope.attention_factor = reader.number("attention_factor");
    result = std::move(longrope);
  } else if (name == "proportional") {
    result = scaling::Proportional{reader.required_number("fraction"), reader.number("factor").value_or(1)};
  } else {
    throw InputError(fmt::format(
        "unknown scaling \"{}\": known are linear, ntk, alpha, dynamic, yarn, llama3, longrope, proportional",
        shorten(name)));
  }
  reader.finish();
  return result;
}

Rope read_rope(const Node& node) {
  Reader reader(node, "rope");
  Rope rope;
  rope.dim = reader.required_integer("dim");
  rope.head_dim = reader.integer("head_dim").value_or(rope.dim);
  rope.theta = reader.required_number("theta");
  const std::string pairing = reader.word("pairing").value_or("half");
  if (pairing == "half") {
    rope.pairing = Pairing::half;
  } else if (pairing == "interleaved") {
    rope.pairing = Pairing::interleaved;
  } else if (pairing == "deinterleave") {
    rope.pairing = Pairing::deinterleave;
  } else {
    throw InputError(
        fmt::format("rope: pairing must be half, interleaved or deinterleave, not \"{}\"", shorten(pairing)));
  }
  const std::int64_t direction = reader.integer("direction").value_or(1);
  if (direction != 1 && direction != -1) {
    throw InputError(fmt::format("rope: direction must be 1 or -1, not {}", direction));
  }
  rope.direction = static_cast<int>(direction);
  if (const Node* scaling = reader.find("scaling")) rope.scaling = read_scaling(*scaling);
  if (reader.find("sections")) {
    throw InputError("rope: sections (M-RoPE, several position axes) is not supported yet");
  }
  reader.finish();
  return rope;
}

// ---- validity ----

void check_factor(std::string_view what, double value) {
  if (!std::isfinite(value) || value <= 0) {
    throw InputError(fmt::format("{} is {}; a finite number > 0 is needed", what, value));
  }
}

void check_length(std::string_view what, std::int64_t value) {
  if (value <= 0 || value > kMaxPosition) {
    throw InputError(fmt::format("{} is {}; a length from 1 to 2^40 is needed", what, value));
  }
}

void check_ntk_width(const Rope& rope) {
  if (rope.dim == 2) {
    throw InputError(
        "rope: dim=2 has no NTK base change, the exponent d/(d-2) divides by zero; use dim >= 4");
  }
}

void check_list(std::string_view what, const Rope& rope, const std::vector<double>& list) {
  if (static_cast<std::int64_t>(list.size()) != rope.pairs()) {
    throw InputError(fmt::format("longrope: {} has {} entries; dim={} needs {}", what, list.size(), rope.dim,
                                 rope.pairs()));
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    check_factor(fmt::format("longrope: {}[{}]", what, i), list[i]);
}

void check_scale(std::string_view name, const std::optional<double>& factor,
                 const std::optional<std::int64_t>& max_position, std::int64_t original) {
  check_length(fmt::format("{}: original", name), original);
  if (factor) check_factor(fmt::format("{}: factor", name), *factor);
  if (max_position) check_length(fmt::format("{}: max_position", name), *max_position);
  if (factor && max_position) {
    throw InputError(fmt::format("{}: give factor or max_position, not both (factor wins upstream)", name));
  }
  if (!factor && !max_position) {
    throw InputError(
        fmt::format("{} needs factor, or max_position for the scale max_position/original", name));
  }
}

void check(const Rope& rope) {
  if (rope.head_dim < 2 || rope.head_dim > kMaxHeadDim || rope.head_dim % 2 != 0) {
    throw InputError(fmt::format("rope: head_dim is {}; an even number from 2 to {} is needed", rope.head_dim,
                                 kMaxHeadDim));
  }
  if (rope.dim < 2 || rope.dim > rope.head_dim || rope.dim % 2 != 0) {
    throw InputError(
        fmt::format("rope: dim (rotary width) is {}; an even number from 2 to head_dim = {} is needed",
                    rope.dim, rope.head_dim));
  }
  check_factor("rope: theta", rope.theta);
  if (rope.direction != 1 && rope.direction != -1) {
    throw InputError(fmt::format("rope: direction must be 1 or -1, not {}", rope.direction));
  }
  std::visit(Overload{
                 [](const scaling::None&) {},
                 [](const scaling::Linear& s) { check_factor("linear: factor", s.factor); },
                 [&](const scaling::Ntk& s) {
                   check_factor("ntk: factor", s.factor);
                   check_ntk_width(rope);
                 },
                 [&](const scaling::Alpha& s) {
                   check_factor("alpha: alpha", s.alpha);
                   check_ntk_width(rope);
                 },
                 [&](const scaling::Dynamic& s) {
                   check_factor("dynamic: factor", s.factor);
                   check_length("dynamic: max_position", s.max_position);
                   check_ntk_width(rope);
                 },
                 [&](const scaling::Yarn& s) {
                   check_scale("yarn", s.factor, s.max_position, s.original);
                   check_factor("yarn: beta_fast", s.beta_fast);
                   check_factor("yarn: beta_slow", s.beta_slow);
                   if (s.mscale) check_factor("yarn: mscale", *s.mscale);
                   if (s.mscale_all_dim) check_factor("yarn: mscale_all_dim", *s.mscale_all_dim);
                   if (s.attention_factor) check_factor("yarn: attention_factor", *s.attention_factor);
                   if (rope.theta == 1)
                     throw InputError("rope: theta=1 has no YaRN ramp, ln(theta) = 0 divides");
                 },
                 [](const scaling::Llama3& s) {
                   check_factor("llama3: factor", s.factor);
                   check_factor("llama3: low", s.low);
                   check_factor("llama3: high", s.high);
                   check_length("llama3: original", s.original);
                 },
                 [&](const scaling::LongRope& s) {
                   check_scale("longrope", s.factor, s.max_position, s.original);
                   check_list("short", rope, s.short_factor);
                   check_list("long", rope, s.long_factor);
                   if (s.attention_factor) check_factor("longrope: attention_factor", *s.attention_factor);
                   const bool grows = s.factor ? *s.factor > 1 : *s.max_position > s.original;
                   if (s.original == 1 && grows && !s.attention_factor) {
                     throw InputError(
                         "longrope: original=1 has no attention factor, ln(original) = 0 divides; give "
                         "attention_factor");
                   }
                 },
                 [](const scaling::Proportional& s) {
                   if (!(s.fraction > 0 && s.fraction <= 1)) {
                     throw InputError(fmt::format(
                         "proportional: fraction is {}; a number in (0, 1] is needed", s.fraction));
                   }
                   check_factor("proportional: factor", s.factor);
                 },
             },
             rope.scaling);
}

}  // namespace

std::string_view to_string(Pairing pairing) {
  switch (pairing) {
    case Pairing::half:
      return "half";
    case Pairing::interleaved:
      return "interleaved";
    case Pairing::deinterleave:
      return "deinterleave";
  }
  return "?";
}

std::string_view scaling_name(const Scaling& scaling) {
  static constexpr std::array<std::string_view, std::variant_size_v<Scaling>> kNames = {
      "default", "linear", "ntk", "alpha", "dynamic", "yarn", "llama3", "longrope", "proportional"};
  return kNames[scaling.index()];
}

void validate(const Encoding& encoding) {
  std::visit([](const auto& scheme) { check(scheme); }, encoding);
}

Rope without_attention_factor(Rope rope) {
  if (auto* yarn = std::get_if<scaling::Yarn>(&rope.scaling)) yarn->attention_factor = 1;
  if (auto* longrope = std::get_if<scaling::LongRope>(&rope.scaling)) longrope->attention_factor = 1;
  return rope;
}

bool depends_on_length(const Encoding& encoding) {
  const auto& rope = std::get<Rope>(encoding);
  return std::holds_alternative<scaling::Dynamic>(rope.scaling) ||
         std::holds_alternative<scaling::LongRope>(rope.scaling);
}

std::string to_string(const Encoding& encoding) {
  const auto& rope = std::get<Rope>(encoding);
  Printer printer("rope");
  printer.add_unless(rope.dim, "head_dim", rope.head_dim).add("dim", rope.dim).add("theta", rope.theta);
  if (rope.pairing != Pairing::half) printer.add("pairing", std::string(to_string(rope.pairing)));
  if (rope.direction != 1) printer.add("direction", std::int64_t{rope.direction});
  if (rope.scaling.index() != 0) printer.add("scaling", print(rope.scaling));
  return printer.done();
}

Encoding parse_encoding(std::string_view text) {
  const Node node = Parser(text).parse();
  if (node.word != "rope") {
    throw InputError(
        fmt::format("unknown scheme \"{}\": rope(dim=..,theta=..) is what is supported", shorten(node.word)));
  }
  Encoding encoding = read_rope(node);
  validate(encoding);
  return encoding;
}

bool looks_like_encoding(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

}  // namespace sextant
