// What a run ran on: host, CPU targets, and a fingerprint of the libm that float32 recipes call.
#pragma once
#include <string>
#include <vector>

namespace sextant {

struct Environment {
  std::string host;
  std::string system;
  std::string compiler;
  std::string libm_fingerprint;  ///< hash of 4096 probes of powf, cosf, sinf and expf
  std::vector<std::string> targets;
};
[[nodiscard]] Environment this_environment();

inline constexpr const char* kVersion = "0.1.0";

}  // namespace sextant
