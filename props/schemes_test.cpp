#include "sextant/props/schemes.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sextant/props/law.hpp"

namespace sextant {
namespace {

TEST(schemes, every_alternative_of_an_encoding_is_listed_once) {
  std::set<std::string> listed;
  for (const Scheme& scheme : schemes()) EXPECT_TRUE(listed.insert(scheme.id).second) << scheme.id;
  EXPECT_EQ(listed.size(), std::variant_size_v<Encoding> + std::variant_size_v<Scaling> - 1);
  for (const Scheme& scheme : schemes()) {
    const Encoding encoding = parse_encoding(scheme.example);
    const Rope* rope = std::get_if<Rope>(&encoding);
    const bool scaled = rope && rope->scaling.index() != 0;
    EXPECT_EQ(scheme.id, scaled ? scaling_name(rope->scaling) : scheme_name(encoding));
  }
}

// A cell names a law that speaks of the scheme.
TEST(schemes, every_grade_is_shown_by_a_law) {
  for (const Scheme& scheme : schemes()) {
    for (const SchemeGrade& grade : {scheme.relative, scheme.extrapolating, scheme.cache_safe}) {
      EXPECT_FALSE(grade.verdict.empty());
      EXPECT_TRUE(find_law(grade.law).space(parse_encoding(scheme.example), 4096, 0))
          << scheme.id << ": " << grade.law;
    }
  }
}

}  // namespace
}  // namespace sextant
