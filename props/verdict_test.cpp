#include "sextant/props/verdict.hpp"

#include <cmath>
#include <random>

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/property.hpp"

namespace sextant {
namespace {

Measure arbitrary_measure() {
  Measure measure;
  measure.unit = "abs";
  for (int i = *uniform(0, 4); i > 0; --i) {
    measure.take(*uniform(0, 4), *uniform(0, 3),
                 {*uniform(0, 3), *uniform(0, 3), *rc::gen::element<std::string>("cos", "sin"), 0, 0});
  }
  if (*uniform(0, 3) == 0) measure.skip();
  return measure;
}

bool same(const Measure& a, const Measure& b) {
  const auto place = [](const Measure& m) {
    return m.witness ? std::optional(std::tuple(m.witness->position, m.witness->pair, m.witness->function))
                     : std::nullopt;
  };
  return a.worst == b.worst && a.bound == b.bound && a.elements == b.elements && a.no_claim == b.no_claim &&
         place(a) == place(b);
}

TEST(measure, merges_alike_in_any_order) {
  expect_property("associative and commutative", [] {
    const Measure a = arbitrary_measure(), b = arbitrary_measure(), c = arbitrary_measure();
    Measure left = a;
    (left += b) += c;
    Measure right = c;
    Measure inner = b;
    inner += a;
    right += inner;
    RC_ASSERT(left.share() == right.share());
    RC_ASSERT(left.elements == right.elements);
    if (left.share() > 0 && std::isfinite(left.share())) {
      RC_ASSERT(left.witness->position == right.witness->position);
      RC_ASSERT(left.witness->pair == right.witness->pair);
      RC_ASSERT(left.witness->function == right.witness->function);
    }
    Measure empty;
    Measure with = a;
    with += empty;
    RC_ASSERT(same(with, a));
  });
}

TEST(verdict, a_check_that_judged_nothing_is_mistrusted) {
  EXPECT_EQ(judged(Measure{}).verdict, Verdict::mistrusted);
  Measure skipped;
  skipped.skip();
  EXPECT_EQ(judged(skipped).verdict, Verdict::mistrusted);
  Measure nan;
  nan.take(NAN, 1, {});
  EXPECT_EQ(judged(nan).verdict, Verdict::fail);
  Measure equal;
  equal.take(1, 1, {});
  EXPECT_EQ(judged(equal).verdict, Verdict::pass);
}

}  // namespace
}  // namespace sextant
