// Every scheme with an example, and three grades that the laws show.
#pragma once
#include <string>
#include <vector>

namespace sextant {

/// A grade, and the law that shows it: on the example it fails for a kernel of another kind.
struct SchemeGrade {
  std::string verdict;  ///< yes, no, or under which condition
  std::string law;
};

struct Scheme {
  std::string id;  ///< scheme_name() or scaling_name()
  std::string title;
  std::string example;        ///< text form
  SchemeGrade relative;       ///< scores depend on key - query alone
  SchemeGrade extrapolating;  ///< defined past the trained length with the same parameters
  SchemeGrade cache_safe;     ///< what is cached for a key never changes as the sequence grows
};

/// All schemes, RoPE's scalings among them, in the order in which they are listed.
[[nodiscard]] const std::vector<Scheme>& schemes();

}  // namespace sextant
