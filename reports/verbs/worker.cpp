// sextant worker: the child of a worker, started by the command itself.
#include "sextant/fixtures/worker/worker.hpp"

#include <memory>

#include "sextant/fixtures/kernels/named.hpp"
#include "sextant/reports/verbs/verbs.hpp"

namespace sextant {

Action add_worker_verb(CLI::App& app) {
  struct Options {
    std::string kernel;
    int socket = 0, memory = 0;
    std::uint64_t memory_limit = 0;
  };
  CLI::App* verb = app.add_subcommand("worker", "runs a kernel for the process that started it")->group("");
  auto options = std::make_shared<Options>();
  verb->add_option("KERNEL", options->kernel)->required();
  verb->add_option("SOCKET", options->socket)->required();
  verb->add_option("MEMORY", options->memory)->required();
  verb->add_option("LIMIT", options->memory_limit)->required();
  return [verb, options] {
    if (!verb->parsed()) return -1;
    return run_worker(options->kernel, options->socket, options->memory, options->memory_limit, named_kernel);
  };
}

}  // namespace sextant
