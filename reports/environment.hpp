// What a run ran on: host, CPU targets, and a fingerprint of the libm that float32 recipes call.
#pragma once
#include <string>
#include <vector>

namespace sextant {

struct Environment {
  std::string time;  ///< "2026-01-31T23:59:59Z"
  std::string host;
  std::string system;
  std::string compiler;
  std::string libm_fingerprint;  ///< hash of 4096 probes of powf, cosf, sinf and expf
  std::vector<std::string> targets;
};
[[nodiscard]] Environment this_environment();

inline constexpr const char* kVersion = "0.1.0";

}  // namespace sextant
