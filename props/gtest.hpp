// Every law on a kernel as a test case of GoogleTest, with a replay in the text of each failure.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sextant/props/schemes.hpp"
#include "sextant/props/suite.hpp"

namespace sextant {

/// What the laws are tried on. Without subjects: usual_subjects(kernel);
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
    if (outcome.verdict != Verdict::pass) ADD_FAILURE() << text_of(record);
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

/// Each pairing of a kernel plain, its first with every scaling, and an example of each further scheme that
/// it offers: what the kernel does not take, its `declines` says.
[[nodiscard]] inline std::vector<Subject> usual_subjects(const Kernel& kernel) {
  std::vector<Subject> subjects;
  const auto add = [&](const std::string& text, Pairing pairing) {
    Rope rope = std::get<Rope>(parse_encoding(text));
    rope.pairing = pairing;
    subjects.push_back({std::nullopt, rope, 4096});
  };
  const std::vector<std::string>& offered = kernel.capabilities.schemes;
  for (const Scheme& scheme : schemes()) {
    if (scheme.id != "rope" && std::find(offered.begin(), offered.end(), scheme.id) != offered.end())
      subjects.push_back({std::nullopt, parse_encoding(scheme.example), 4096});
  }
  if (std::find(offered.begin(), offered.end(), "rope") == offered.end()) return subjects;
  for (const Pairing pairing : kernel.capabilities.pairings) add("rope(dim=128,theta=10000)", pairing);
  if (kernel.capabilities.pairings.empty()) return subjects;
  for (const char* text :
       {"rope(head_dim=64,dim=32,theta=10000)", "rope(dim=64,theta=10000,scaling=linear(factor=4))",
        "rope(dim=64,theta=10000,scaling=ntk(factor=4))",
        "rope(dim=64,theta=10000,scaling=alpha(alpha=1000))",
        "rope(dim=64,theta=10000,scaling=dynamic(factor=2,max_position=2048))",
        "rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))",
        "rope(dim=64,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))",
        "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5],long=[2,64.5]))",
        "rope(dim=64,theta=1000000,scaling=proportional(fraction=0.25))"})
    add(text, kernel.capabilities.pairings.front());
  return subjects;
}

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
  if (options.subjects.empty()) suite.subjects = usual_subjects(kernel);
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
