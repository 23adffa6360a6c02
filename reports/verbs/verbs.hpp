// The verbs of the command: each adds its subcommand and returns its exit status when it was chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace sextant {

/// What runs if the subcommand was given; returns the exit status.
using Action = std::function<int()>;

[[nodiscard]] Action add_table_verb(CLI::App& app);
[[nodiscard]] Action add_verify_verb(CLI::App& app);
[[nodiscard]] Action add_sweep_verb(CLI::App& app);
[[nodiscard]] Action add_grade_verb(CLI::App& app);
[[nodiscard]] Action add_merge_verb(CLI::App& app);
[[nodiscard]] Action add_gate_verb(CLI::App& app);
[[nodiscard]] Action add_report_verb(CLI::App& app);
[[nodiscard]] Action add_list_verb(CLI::App& app);
[[nodiscard]] Action add_replay_verb(CLI::App& app);
/// Not for users: --help does not show it.
[[nodiscard]] Action add_worker_verb(CLI::App& app);

}  // namespace sextant
