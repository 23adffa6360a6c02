// Every law on a kernel as a test case of GoogleTest, with a replay in the text of each failure.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sextant/props/suite.hpp"

namespace sextant {

/// What the laws are tried on. Without subjects: a plain rotary encoding in each pairing that the kernel has;
/// laws of scalings add theirs.
struct KernelTestOptions {
  std::vector<Subject> subjects;
  std::optional<Contract> contract;  ///< in place of the claimed one
  int cases = 8;                     ///< per law and encoding
  std::uint64_t seed = 1;
};

/// Fails the program where SEXTANT_REPLAY named none of the tests that ran.
class ReplayMatched : public testing::Environment {
 public:
  static bool& any() {
    static bool matched = false;
    return matched;
  }
  void TearDown() override {
    if (std::getenv("SEXTANT_REPLAY") != nullptr && !any())
      ADD_FAILURE() << "SEXTANT_REPLAY names none of the tests that ran";
  }
};

/// One law on one operation of one kernel. Unsupported and unavailable are skipped; all else but pass fails.
class KernelTest : public testing::Test {
 public:
  explicit KernelTest(std::shared_ptr<const SuiteOptions> suite) : suite_(std::move(suite)) {}

  void TestBody() override {
    if (const char* text = std::getenv("SEXTANT_REPLAY")) return replay(parse_replay(text));
    const SuiteResult result = run_suite(*suite_);
    EXPECT_TRUE(result.audit.kept()) << "the truth itself failed its audit against MPFR";
    bool judged = false;
    std::string reason = "the law does not speak of these encodings";
    for (const VerdictRecord& record : result.verdicts) {
      if (record.verdict < Verdict::pass) ADD_FAILURE() << text_of(record);
      judged = judged || record.verdict <= Verdict::pass;
      if (record.verdict > Verdict::pass) reason = record.reason;
    }
    if (!judged) GTEST_SKIP() << reason;
  }

 private:
  void replay(const Replay& wanted) const {
    const Law& law = suite_->laws.front();
    const Kernel& kernel = suite_->kernels.front();
    if (wanted.law != law.id || wanted.kernel != kernel.name || wanted.operation != law.operations.front() ||
        wanted.c.dtype != suite_->dtypes.front())
      GTEST_SKIP() << "SEXTANT_REPLAY names another test";
    ReplayMatched::any() = true;
    const Outcome outcome = run_replay(wanted, kernel);
    VerdictRecord record;
    record.verdict = outcome.verdict;
    record.measure = outcome.measure;
    record.witness = outcome.measure.witness;
    record.reason = outcome.reason;
    record.replay = to_string(wanted);
    record.operation = wanted.operation;
    record.dtype = wanted.c.dtype;
    record.contract = wanted.contract;
    if (outcome.verdict > Verdict::pass) GTEST_SKIP() << outcome.reason;
    EXPECT_EQ(outcome.verdict, Verdict::pass) << text_of(record);
  }

  static std::string text_of(const VerdictRecord& record) {
    std::ostringstream text;
    text.precision(9);
    text << to_string(record.verdict) << " in " << to_string(record.dtype) << " under " << record.contract;
    if (record.encoding) text << " on " << record.model.value_or(*record.encoding);
    if (!record.reason.empty()) text << "\n  " << record.reason;
    if (record.measure.witness)
      text << "\n  worst " << record.measure.worst << " " << record.measure.unit << ", bound "
           << record.measure.bound;
    if (record.witness)
      text << "\n  shrunk to position " << record.witness->position << ", pair " << record.witness->pair
           << ", " << record.witness->function << ": got " << record.witness->got << ", want "
           << record.witness->want;
    if (!record.replay.empty()) text << "\n  replay: SEXTANT_REPLAY='" << record.replay << "'";
    return text.str();
  }

  std::shared_ptr<const SuiteOptions> suite_;
};

/// Registers the test LAW/KERNEL.OPERATION for every law and operation, and OPERATION_bf16 or _f16 where the
/// kernel claims those; call it before RUN_ALL_TESTS, from main or from the initialiser of a global. With
/// SEXTANT_REPLAY='..' in the environment, as a failure prints it, the test program runs that one case alone.
/// Returns the number of tests.
inline int register_kernel_tests(const Kernel& kernel, const KernelTestOptions& options = {}) {
  SuiteOptions suite;
  suite.kernels = {kernel};
  suite.subjects = options.subjects;
  suite.contract = options.contract;
  suite.cases = options.cases;
  suite.seed = options.seed;
  suite.drift = false;
  for (const Pairing pairing : kernel.capabilities.pairings) {
    if (options.subjects.empty())
      suite.subjects.push_back({std::nullopt, Rope{128, 128, 10000, pairing, +1, {}}, 4096});
  }
  static const testing::Environment* const watching = testing::AddGlobalTestEnvironment(new ReplayMatched);
  (void)watching;
  int tests = 0;
  for (const Law& law : laws()) {
    const std::string name = law.id + "/" + kernel.name;
    for (const Operation operation : law.operations) {
      std::vector<DType> dtypes{DType::f32};
      if (kernel.offers(operation)) dtypes = dtypes_of(kernel, operation);
      for (const DType dtype : dtypes) {
        auto one = std::make_shared<SuiteOptions>(suite);
        one->laws = {law};
        one->laws.front().operations = {operation};
        one->dtypes = {dtype};
        std::string test(to_string(operation));
        if (dtype != DType::f32) test.append("_").append(to_string(dtype));
        testing::RegisterTest(name.c_str(), test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [one]() -> KernelTest* { return new KernelTest(one); });
        ++tests;
      }
    }
  }
  return tests;
}

}  // namespace sextant
