// A law as a test case: what fails says why and how to replay it; what passes is silent.
#include "sextant/props/gtest.hpp"

#include <gtest/gtest-spi.h>

#include "sextant/props/law_test.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

KernelTest test_of(const Kernel& kernel) {
  SuiteOptions suite;
  suite.kernels = {kernel};
  suite.subjects = {{"tiny", rope_of("rope(dim=16,theta=10000)"), 4096}};
  suite.laws = {rope_elementwise()};
  suite.laws.front().operations = {Operation::rotate};
  suite.drift = false;
  suite.dtypes = {DType::f32};
  return KernelTest(std::make_shared<const SuiteOptions>(suite));
}

Kernel off_by_one() {
  const auto next = [](std::int64_t position) { return position + 1; };
  Kernel kernel = misplacing(next, next);
  kernel.capabilities.inputs = {DType::f32};
  kernel.name = "mine";
  return kernel;
}

TEST(kernel_test, a_right_kernel_passes) { test_of(scalar_kernel()).TestBody(); }

TEST(kernel_test, a_failure_tells_worst_witness_and_replay) {
  EXPECT_NONFATAL_FAILURE(test_of(off_by_one()).TestBody(), "fail in f32 under f32-angle on tiny\n  worst ");
  EXPECT_NONFATAL_FAILURE(test_of(off_by_one()).TestBody(), "shrunk to position 0, pair 0, b: got 0.84147");
  EXPECT_NONFATAL_FAILURE(test_of(off_by_one()).TestBody(),
                          "replay: SEXTANT_REPLAY='law=rope_elementwise kernel=mine contract=f32-angle");
}

TEST(kernel_test, a_kernel_that_throws_fails_with_its_reason) {
  Kernel throwing = scalar_kernel();
  throwing.capabilities.inputs = {DType::f32};
  throwing.rotate = [](const RotateCall&) { throw std::runtime_error("boom"); };
  EXPECT_NONFATAL_FAILURE(test_of(throwing).TestBody(), "crashed in f32 under f32-angle on tiny\n  boom");
}

TEST(kernel_test, a_replay_runs_its_one_case_alone) {
  const std::string one =
      "law=rope_elementwise kernel=mine contract=f32-angle operation=rotate "
      "encoding=rope(dim=16,theta=10000) "
      "batch=1 heads=1 kv_heads=1 head_dim=16 seq_len=8 mode=one_hot hot=0 seed=0 positions=3";
  setenv("SEXTANT_REPLAY", one.c_str(), 1);
  EXPECT_NONFATAL_FAILURE(test_of(off_by_one()).TestBody(), "position 3, pair 0");
  setenv("SEXTANT_REPLAY", "law=none", 1);
  EXPECT_THROW(test_of(off_by_one()).TestBody(), InputError);
  unsetenv("SEXTANT_REPLAY");
}

}  // namespace
}  // namespace sextant
