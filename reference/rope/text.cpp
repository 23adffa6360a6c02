// Text form and validity of RoPE with its scalings.
#include <array>
#include <cmath>

#include "sextant/reference/schemes.hpp"

namespace sextant {

using namespace text_form;

namespace {

template <class... Functions>
struct Overload : Functions... {
  using Functions::operator()...;
};

std::string printed(const Scaling& scaling) {
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
    yarn.truncate = reader.flag("truncate").value_or(true);
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

}  // namespace

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

void read(Reader& reader, Rope& rope) {
  rope.dim = reader.required_integer("dim");
  rope.head_dim = reader.integer("head_dim").value_or(rope.dim);
  rope.theta = reader.required_number("theta");
  rope.pairing = reader
                     .one_of<Pairing>("pairing", {{"half", Pairing::half},
                                                  {"interleaved", Pairing::interleaved},
                                                  {"deinterleave", Pairing::deinterleave}})
                     .value_or(Pairing::half);
  const std::int64_t direction = reader.integer("direction").value_or(1);
  if (direction != 1 && direction != -1) {
    throw InputError(fmt::format("rope: direction must be 1 or -1, not {}", direction));
  }
  rope.direction = static_cast<int>(direction);
  if (const Node* scaling = reader.find("scaling")) rope.scaling = read_scaling(*scaling);
  if (reader.find("sections")) {
    throw InputError("rope: sections (M-RoPE, several position axes) is not supported yet");
  }
}

void print(Printer& printer, const Rope& rope) {
  printer.add_unless(rope.dim, "head_dim", rope.head_dim).add("dim", rope.dim).add("theta", rope.theta);
  if (rope.pairing != Pairing::half) printer.add("pairing", std::string(to_string(rope.pairing)));
  if (rope.direction != 1) printer.add("direction", std::int64_t{rope.direction});
  if (rope.scaling.index() != 0) printer.add("scaling", printed(rope.scaling));
}

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

Rope without_attention_factor(Rope rope) {
  if (auto* yarn = std::get_if<scaling::Yarn>(&rope.scaling)) yarn->attention_factor = 1;
  if (auto* longrope = std::get_if<scaling::LongRope>(&rope.scaling)) longrope->attention_factor = 1;
  return rope;
}

}  // namespace sextant
