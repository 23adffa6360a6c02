// RapidCheck properties inside GoogleTest: rc::check alone only returns false.
#pragma once
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sextant {

/// Fails the surrounding test where the property fails; RapidCheck prints the shrunk counterexample and its
/// seed.
template <class Property>
void expect_property(const char* name, Property property) {
  EXPECT_TRUE(rc::check(name, property)) << name;
}

}  // namespace sextant
