// device_check on the host's loops and on a made-up runtime (made_up_runtime.hpp): its documents are runs
// that every reader takes, and nothing that went wrong reads as passed. No GPU takes part.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "sextant/reports/environment.hpp"
#include "sextant/reports/gate.hpp"
#include "sextant/reports/run.hpp"
#include "sextant/reports/validated_test.hpp"

namespace sextant {
namespace {

class DeviceCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(SEXTANT_DEVICE_CHECK).empty())
      GTEST_SKIP() << "built without CUDA: device_check was NOT tested";
  }
  ~DeviceCheck() override { std::filesystem::remove_all(folder_); }

  struct Ended {
    int status;
    std::string text;
    sextant::Run run;
  };
  /// `program` is device_check or device_check_made_up.
  [[nodiscard]] Ended check(const std::string& program, const std::string& arguments,
                            const std::string& environment = "") const {
    const std::string file = folder_ / "run.json";
    const std::string binary = std::filesystem::path(SEXTANT_DEVICE_CHECK).parent_path() / program;
    const int status = std::system(fmt::format("cd {} && {} {} {} {} >/dev/null 2>&1", folder_.string(),
                                               environment, binary, arguments, file)
                                       .c_str());
    const std::string text = text_of("run.json");
    return {WEXITSTATUS(status), text, parse_run(text, file)};
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] static std::size_t count(const sextant::Run& run, Verdict verdict) {
    return summary_of(run)[static_cast<std::size_t>(verdict)].second;
  }
  [[nodiscard]] std::string program(const std::string& name, const std::string& lines) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  std::filesystem::path folder_ = [] {
    char name[] = "/tmp/sextant_test.XXXXXX";
    return std::filesystem::path(mkdtemp(name));
  }();
};

TEST_F(DeviceCheck, on_the_host_says_nothing_of_a_gpu) {
  const Ended ended = check("device_check", "--host --short");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.status, exit_status(ended.run));
  EXPECT_NE(ended.run.environment.system.find("NO GPU"), std::string::npos);
  for (const VerdictRecord& record : ended.run.result.verdicts) {
    EXPECT_EQ(record.verdict, record.kernel.starts_with("cuda/") ? Verdict::unavailable : Verdict::pass);
    EXPECT_TRUE(record.verdict == Verdict::pass || record.reason == "--host: no GPU took part")
        << record.reason;
  }
  EXPECT_GE(count(ended.run, Verdict::pass), 8U);
}

TEST_F(DeviceCheck, documents_are_runs) {
  const Ended host = check("device_check", "--host --short"),
              made_up = check("device_check_made_up", "--short");
  for (const Ended& ended : {host, made_up}) {
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.run.version, kVersion);
    const std::string again = to_json(ended.run);
    EXPECT_EQ(to_json(parse_run(again, "again")), again);
    EXPECT_EQ(parse_run(again, "again").result.elements, ended.run.result.elements);
    EXPECT_EQ(exit_status(ended.run), 0);
  }
  const int status = validated({host.text, made_up.text});
  if (status > 2) GTEST_SKIP() << "python3-jsonschema is not installed: the schema was NOT tested";
  EXPECT_EQ(status, 0);
}

TEST_F(DeviceCheck, every_section_of_a_gpu_runs_on_the_made_up_one) {
  const Ended ended = check("device_check_made_up", "--short");
  EXPECT_EQ(count(ended.run, Verdict::pass), ended.run.result.verdicts.size());
  for (const VerdictRecord& record : ended.run.result.verdicts)
    EXPECT_TRUE(record.kernel.starts_with("cuda/"));
}

// From the nineteenth copy on sections compare bits.
TEST_F(DeviceCheck, a_flipped_bit_fails) {
  for (const int copy : {19, 20, 21, 28, 29, 34, 40, 50, 70}) {
    const Ended ended = check("device_check_made_up", "--short", fmt::format("MADE_UP_FLIPS_AT={}", copy));
    EXPECT_EQ(ended.status, 1) << copy;
    EXPECT_EQ(count(ended.run, Verdict::fail), 1U) << copy;
  }
}

TEST_F(DeviceCheck, a_fault_is_a_crash_and_what_it_hides_is_undecided) {
  const Ended ended = check("device_check_made_up", "--short", "MADE_UP_FAILS_AT=400");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(count(ended.run, Verdict::crashed), 1U);
  EXPECT_GT(count(ended.run, Verdict::undecided), 0U);
  bool lost = false;
  for (const VerdictRecord& record : ended.run.result.verdicts) {
    EXPECT_EQ(record.verdict == Verdict::undecided, lost) << record.law;
    lost |= record.verdict == Verdict::crashed;
  }
}

TEST_F(DeviceCheck, a_full_device_leaves_one_section_undecided) {
  const Ended ended = check("device_check_made_up", "--short", "MADE_UP_STATUS=2 MADE_UP_FAILS_AT=40");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(count(ended.run, Verdict::undecided), 1U);
  EXPECT_EQ(count(ended.run, Verdict::crashed), 0U);
}

TEST_F(DeviceCheck, the_sanitizer_s_word_counts) {
  const auto verdicts = [&](const std::string& sanitizer) {
    std::set<Verdict> seen;
    for (const VerdictRecord& record :
         check("device_check", "--host --short --sanitizer " + sanitizer).run.result.verdicts) {
      if (record.law.ends_with("check") && record.operation == Operation::tables && !record.encoding)
        seen.insert(record.verdict);
    }
    return seen;
  };
  EXPECT_EQ(verdicts(program("passes", "while [ \"$1\" != 77 ]; do shift; done; shift; exec \"$@\"")),
            std::set{Verdict::pass});
  EXPECT_EQ(verdicts(program("finds", "exit 77")), std::set{Verdict::fail});
  EXPECT_EQ(verdicts(program("breaks", "exit 3")), std::set{Verdict::undecided});
  EXPECT_EQ(verdicts("nowhere"), std::set{Verdict::unavailable});
}

TEST_F(DeviceCheck, what_a_killed_check_did_not_reach_is_undecided) {
  (void)check("device_check",
              "--host --short --sanitizer " + program("copies", "cp run.json seen.json; exit 0"));
  const sextant::Run seen = parse_run(text_of("seen.json"), "seen.json");
  EXPECT_EQ(seen.result.verdicts.back().verdict, Verdict::undecided);
  EXPECT_EQ(seen.result.verdicts.back().reason, "not reached");
  EXPECT_EQ(exit_status(seen), 1);
}

}  // namespace
}  // namespace sextant
