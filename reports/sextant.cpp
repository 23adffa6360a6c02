// The sextant command: verbs, one line per error, exit statuses.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <sstream>

#include "sextant/fixtures/kernel.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/environment.hpp"
#include "sextant/reports/arguments.hpp"
#include "sextant/reports/environment.hpp"
#include "sextant/reports/output.hpp"
#include "sextant/reports/verbs/verbs.hpp"
#include "sextant/reports/workers.hpp"

namespace sextant {
namespace {

constexpr int kBroken = 1;  ///< what was to be measured failed
constexpr int kBadInput = 2;
constexpr int kNothing = 3;  ///< could be measured

/// One line, whatever a library wrote or an input held.
int refuse(std::string line) {
  while (!line.empty() && line.back() == '\n') line.pop_back();
  if (!Workers::speaks()) return kBadInput;
  complain(fmt::format("sextant: {}\n", printable(line)));
  return kBadInput;
}

/// An option that was given an empty value, or nothing.
std::string empty_option(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& value : option->results()) {
        if (value.empty()) return option->get_name();
      }
    }
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app{
      "Sextant verifies positional-encoding kernels against exact mathematics.\n"
      "First steps: sextant verify; sextant table llama-3.1-8b --positions 0,131071; sextant list models",
      "sextant"};
  app.set_version_flag("--version", std::string("sextant ") + kVersion);
  app.require_subcommand(1);
  const std::vector<Action> actions = {add_table_verb(app),  add_verify_verb(app), add_gate_verb(app),
                                       add_report_verb(app), add_sweep_verb(app),  add_grade_verb(app),
                                       add_merge_verb(app),  add_list_verb(app),   add_replay_verb(app),
                                       add_worker_verb(app)};
  std::string verbs;
  bool known = false;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) verbs += fmt::format("{}{}", verbs.empty() ? "" : ", ", verb->get_name());
    known = known || (argc > 1 && verb->get_name() == argv[1]);
  }
  if (argc > 1 && argv[1][0] != '-' && !known) {
    return refuse(fmt::format("unknown verb \"{}\": known are {}", argv[1], verbs));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      const int status = app.exit(error, text, text);
      write_document("-", text.str());
      return status;
    }
    const bool conversion = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
    return refuse(fmt::format("{}{} (see sextant --help)", error.what(),
                              conversion ? "; a whole number in range is needed" : ""));
  }
  if (const std::string option = empty_option(app); !option.empty()) {
    return refuse(fmt::format("{} is empty; give it a value or leave it out", option));
  }
  for (const Action& action : actions) {
    const int status = action();
    if (status >= 0) return status;
  }
  return refuse("no verb was given (see sextant --help)");
}

/// A mapped file shrank under the reader: nothing can be trusted, and nothing was written.
extern "C" void cut_short(int) {
  constexpr std::string_view line =
      "sextant: a table file was cut short while it was read; keep it in place during the sweep\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  _exit(kBadInput);
}

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) {
  std::signal(SIGBUS, sextant::cut_short);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows past a limit is an error of write, not a death
  try {
    sextant::check_floating_point();
    return sextant::run(argc, argv);
  } catch (const sextant::Unavailable& error) {
    sextant::refuse(error.what());
    return sextant::kNothing;
  } catch (const sextant::InputError& error) {
    return sextant::refuse(error.what());
  } catch (const sextant::Crashed& error) {
    sextant::refuse(std::string("the kernel crashed: ") + error.what());
    return sextant::kBroken;
  } catch (const sextant::Misbehaved& error) {
    sextant::refuse(error.what());
    return sextant::kBroken;
  } catch (const std::bad_alloc&) {
    return sextant::refuse("out of memory: ask for fewer positions or a smaller encoding");
  } catch (const std::exception& error) {
    return sextant::refuse(std::string("internal error: ") + error.what());
  }
}
