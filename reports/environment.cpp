// The environment of a run.
#include "sextant/reports/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sys/utsname.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "sextant/fixtures/generators/case.hpp"

namespace sextant {
namespace {

/// The same bits of these 4096 results mean the same libm as far as float32 recipes can tell.
std::string fingerprint() {
  std::uint64_t hash = 0;
  const auto take = [&](float value) { hash = scatter(hash ^ std::bit_cast<std::uint32_t>(value)); };
  for (std::uint64_t i = 0; i < 1024; ++i) {
    const auto unit = static_cast<float>(scatter(i) >> 40) * 0x1p-24F;
    take(std::pow(1.0F + 1e6F * unit, unit));
    take(std::cos(131072 * unit));
    take(std::sin(131072 * unit));
    take(std::exp(-32 * unit));
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

Environment this_environment() {
  Environment environment;
  environment.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  utsname name{};
  if (uname(&name) == 0) {
    environment.host = name.nodename;
    environment.system = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  }
  environment.compiler = __VERSION__;
  environment.libm_fingerprint = fingerprint();
  for (std::int64_t bits = hwy::SupportedTargets(); bits != 0; bits &= bits - 1) {
    const std::string target = hwy::TargetName(static_cast<std::uint32_t>(bits & -bits));
    if (target != "Unknown") environment.targets.push_back(target);
  }
  return environment;
}

}  // namespace sextant
