// The one exception that means "your input is wrong": its text is the single line a user reads (exit status
// 2).
#pragma once
#include <stdexcept>

namespace sextant {

/// Names the input and says what would be right. Thrown by parsers, readers and validators, never by
/// arithmetic.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sextant
