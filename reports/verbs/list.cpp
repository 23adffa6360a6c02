// sextant list: kernels, laws, faults, models, contracts, schemes.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "sextant/fixtures/faults/conduct.hpp"
#include "sextant/fixtures/kernels/named.hpp"
#include "sextant/props/law.hpp"
#include "sextant/props/schemes.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

ordered_json list_kernels() {
  ordered_json list = ordered_json::array();
  for (const Kernel& kernel : known_kernels()) {
    ordered_json operations = ordered_json::array();
    for (const Operation operation : kernel.operations()) operations.push_back(to_string(operation));
    list.push_back(
        {{"id", kernel.name},
         {"title", kernel.title},
         {"status", kernel.unavailable.empty() ? "available" : "unavailable"},
         {"reason", kernel.unavailable.empty() ? ordered_json(nullptr) : ordered_json(kernel.unavailable)},
         {"contract", kernel.capabilities.contract},
         {"schemes", kernel.capabilities.schemes},
         {"operations", std::move(operations)}});
  }
  return list;
}

ordered_json list_faults() {
  ordered_json list = ordered_json::array();
  for (const Kernel& kernel : conduct_faults())
    list.push_back({{"id", kernel.name.substr(kernel.name.find(':') + 1)},
                    {"title", kernel.title},
                    {"example", fmt::format("--kernel {}", kernel.name)}});
  return list;
}

ordered_json list_laws() {
  ordered_json list = ordered_json::array();
  for (const Law& law : laws()) {
    ordered_json operations = ordered_json::array();
    for (const Operation operation : law.operations) operations.push_back(to_string(operation));
    list.push_back({{"id", law.id},
                    {"title", law.title},
                    {"operations", std::move(operations)},
                    {"blind_to", law.blind_to}});
  }
  return list;
}

ordered_json list_models() {
  ordered_json list = ordered_json::array();
  for (const ModelConfig& model : bundled_models()) {
    for (const ConfigEncoding& entry : model.encodings) {
      const std::string id =
          entry.selector.empty() ? model.name : fmt::format("{}#{}", model.name, entry.selector);
      list.push_back(
          {{"id", id},
           {"title", entry.scheme},
           {"status", entry.encoding ? "supported" : "not supported yet"},
           {"reason", entry.encoding ? ordered_json(nullptr) : ordered_json(entry.unsupported)},
           {"encoding", entry.encoding ? ordered_json(to_string(*entry.encoding)) : ordered_json(nullptr)},
           {"max_position", entry.max_position}});
    }
  }
  return list;
}

ordered_json list_contracts() {
  ordered_json list = ordered_json::array();
  for (const Contract& contract : contracts())
    list.push_back({{"id", contract.name}, {"title", contract.title()}});
  return list;
}

ordered_json list_schemes() {
  const auto cell = [](const SchemeGrade& grade) {
    return ordered_json{{"verdict", grade.verdict}, {"law", grade.law}};
  };
  ordered_json list = ordered_json::array();
  for (const Scheme& scheme : schemes())
    list.push_back({{"id", scheme.id},
                    {"title", scheme.title},
                    {"example", scheme.example},
                    {"relative", cell(scheme.relative)},
                    {"extrapolating", cell(scheme.extrapolating)},
                    {"cache_safe", cell(scheme.cache_safe)}});
  return list;
}

const std::vector<std::pair<std::string, std::function<ordered_json()>>>& lists() {
  static const std::vector<std::pair<std::string, std::function<ordered_json()>>> all = {
      {"kernels", list_kernels}, {"laws", list_laws},           {"faults", list_faults},
      {"models", list_models},   {"contracts", list_contracts}, {"schemes", list_schemes},
  };
  return all;
}

std::string to_text(const ordered_json& list) {
  std::size_t width = 0;
  for (const ordered_json& entry : list) width = std::max(width, entry.at("id").get<std::string>().size());
  std::string text;
  for (const ordered_json& entry : list) {
    text += fmt::format("{:<{}}  {}", entry.at("id").get<std::string>(), width,
                        entry.at("title").get<std::string>());
    for (const char* key : {"status", "reason", "encoding", "contract", "example", "blind_to"}) {
      if (!entry.contains(key) || !entry.at(key).is_string()) continue;
      const std::string value = entry.at(key);
      if (value == "available" || value == "supported") continue;
      text += fmt::format("  {}{}", std::string_view(key) == "blind_to" ? "blind to: " : "",
                          value.size() > 120 ? value.substr(0, 117) + "..." : value);
    }
    text += "\n";
    for (const char* key : {"relative", "extrapolating", "cache_safe"}) {
      if (!entry.contains(key)) continue;
      text += fmt::format("{:<{}}    {:<13}  {:<13}  shown by {}\n", "", width, key,
                          entry.at(key).at("verdict").get<std::string>(),
                          entry.at(key).at("law").get<std::string>());
    }
  }
  return text;
}

int run(const std::string& what, const std::string& json) {
  for (const auto& [name, make] : lists()) {
    if (name != what) continue;
    const ordered_json list = make();
    if (json.empty()) {
      write_document("-", to_text(list));
    } else {
      write_document(json, ordered_json{{name, list}}.dump(1) + "\n");
    }
    return 0;
  }
  std::string known;
  for (const auto& [name, make] : lists()) known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  throw InputError(fmt::format("list: unknown \"{}\"; known are {}", what.substr(0, 40), known));
}

}  // namespace

Action add_list_verb(CLI::App& app) {
  struct Options {
    std::string what, json;
  };
  CLI::App* verb =
      app.add_subcommand("list", "what there is: kernels, laws, faults, models, contracts, schemes");
  auto options = std::make_shared<Options>();
  verb->add_option("WHAT", options->what, "kernels, laws, faults, models, contracts or schemes")->required();
  verb->add_option("--json", options->json, "write a JSON document to FILE, - for standard output");
  return [verb, options] { return verb->parsed() ? run(options->what, options->json) : -1; };
}

}  // namespace sextant
