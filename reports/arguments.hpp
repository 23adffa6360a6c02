// Reading of command-line values that several verbs share: positions, dtypes, kernels, encodings.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/fixtures/kernel.hpp"
#include "sextant/fixtures/models/bundled.hpp"
#include "sextant/props/sweep.hpp"
#include "sextant/reference/distance.hpp"

namespace sextant {

/// "0,1,17", "A:B" (B excluded) or a mixture, at most `limit` positions. Throws InputError.
[[nodiscard]] std::vector<std::int64_t> parse_positions(const std::string& text, std::int64_t limit);

/// "A:B", at most 2^36 positions. Throws InputError.
[[nodiscard]] Range parse_range(const std::string& text);

/// Nothing can be measured here: exit status 3.
struct Unavailable : InputError {
  using InputError::InputError;
};

/// Throws InputError where a kernel cannot be swept over these positions, Unavailable where it cannot run.
void check_sweepable(const Kernel& kernel, Operation operation, const Encoding& encoding, const Range& range);

/// f32, f64, f16, bf16. Throws InputError.
[[nodiscard]] const Format& parse_format(const std::string& name);

/// Whether find_kernel gives it in a worker: kernels of others, of a GPU and wrong on purpose.
[[nodiscard]] bool runs_in_worker(const Kernel& kernel);
/// The kernel a name means (named_kernel); in a worker it has 10 s for each call, 1 s if it is wrong on
/// purpose, unless a limit is given.
[[nodiscard]] Kernel find_kernel(const std::string& name,
                                 std::optional<std::chrono::milliseconds> time_limit = {});

/// The context for an encoding whose config declares none: what its scaling implies, else 4096.
[[nodiscard]] std::int64_t context_of(const Encoding& encoding, std::int64_t declared);
/// The RoPE of an encoding; throws InputError, naming the verb, for another scheme.
[[nodiscard]] const Rope& rope_for(const char* verb, const Encoding& encoding);

/// Prints "warning: .." lines to standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace sextant
