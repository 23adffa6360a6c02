// What every proof of the oracle rests on, checked in the running process: the floating-point environment.
#pragma once

namespace sextant {

/// Throws std::runtime_error unless this thread rounds to nearest, keeps subnormals (neither FTZ nor DAZ),
/// and multiplies and adds without contraction or reassociation.
void check_floating_point();

}  // namespace sextant
