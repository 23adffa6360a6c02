// The sextant command: verbs, one line per error, exit statuses (interface.md 7).
#include <fmt/format.h>

#include <exception>
#include <new>

#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/environment.hpp"
#include "sextant/reports/environment.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {
namespace {

constexpr int kBadInput = 2;

/// One line: what a library wrote over several is joined.
int refuse(std::string line) {
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  fmt::print(stderr, "sextant: {}\n", line);
  return kBadInput;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Sextant verifies positional-encoding kernels against exact mathematics.\n"
      "First steps: sextant verify; sextant table llama-3.1-8b --positions 0,131071; sextant list models",
      "sextant"};
  app.set_version_flag("--version", std::string("sextant ") + kVersion);
  app.require_subcommand(1);
  const std::vector<Action> actions = {add_table_verb(app), add_verify_verb(app), add_sweep_verb(app),
                                       add_merge_verb(app), add_list_verb(app),   add_replay_verb(app)};
  std::string verbs;
  bool known = false;
  for (const CLI::App* verb : app.get_subcommands({})) {
    verbs += fmt::format("{}{}", verbs.empty() ? "" : ", ", verb->get_name());
    known = known || (argc > 1 && verb->get_name() == argv[1]);
  }
  if (argc > 1 && argv[1][0] != '-' && !known) {
    return refuse(fmt::format("unknown verb \"{}\": known are {}", argv[1], verbs));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return refuse(std::string(error.what()) + " (see sextant --help)");
  }
  for (const Action& action : actions) {
    const int status = action();
    if (status >= 0) return status;
  }
  return refuse("no verb was given (see sextant --help)");
}

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) {
  try {
    sextant::check_floating_point();
    return sextant::run(argc, argv);
  } catch (const sextant::InputError& error) {
    return sextant::refuse(error.what());
  } catch (const std::bad_alloc&) {
    return sextant::refuse("out of memory: ask for fewer positions or a smaller encoding");
  } catch (const std::exception& error) {
    return sextant::refuse(std::string("internal error: ") + error.what());
  }
}
