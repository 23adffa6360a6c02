// The run document says what the schema says it does, comes back whole, and is refused where it cannot be
// true.
#include "sextant/reports/run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "sextant/reference/error.hpp"
#include "sextant/reports/example_run_test.hpp"
#include "sextant/reports/validated_test.hpp"

namespace sextant {
namespace {

using nlohmann::json;

TEST(run, documents_keep_the_schema_and_the_schema_has_teeth) {
  auto hostile = example_run();
  hostile.result.verdicts[0].kernel = "\xff</script>\x1b[31m";
  hostile.result.verdicts[0].measure.worst = INFINITY;
  const int status = validated({to_json(example_run()), to_json(hostile), to_json(sextant::Run{})});
  if (status > 2) GTEST_SKIP() << "python3-jsonschema is not installed: the schema was NOT tested";
  EXPECT_EQ(status, 0);
  const auto damaged = [](const std::function<void(json&)>& damage) {
    json document = json::parse(to_json(example_run()));
    damage(document);
    return validated({document.dump()});
  };
  EXPECT_EQ(damaged([](json& d) { d["verdicts"][0]["verdict"] = "perfect"; }), 1);
  EXPECT_EQ(damaged([](json& d) { d["verdicts"][0]["colour"] = "red"; }), 1);
  EXPECT_EQ(damaged([](json& d) { d["drift"][0]["ulp_histogram"].erase(0); }), 1);
  EXPECT_EQ(damaged([](json& d) { d.erase("seed"); }), 1);
}

TEST(run, a_document_comes_back_to_the_byte) {
  for (const auto& run : {example_run(), sextant::Run{}}) {
    const std::string text = to_json(run);
    const auto read = parse_run(text, "run.json");
    EXPECT_EQ(to_json(read), text);
    EXPECT_EQ(exit_status(read), exit_status(run));
  }
  auto run = example_run();
  run.missing = {{"cuda", "no device"}};
  run.allowances = {{"mine*", "drift", 0.5, "known"}};
  run.result.audit.worst_share = 7;
  run.result.verdicts[1].measure.worst = INFINITY;
  const auto read = parse_run(to_json(run), "run.json");
  EXPECT_EQ(read.missing, run.missing);
  EXPECT_EQ(read.allowances.at(0).relative, 0.5);
  EXPECT_FALSE(read.result.audit.kept());
  EXPECT_TRUE(std::isinf(read.result.verdicts[1].measure.share()));
  EXPECT_EQ(read.result.verdicts[5].encoding, run.result.verdicts[5].encoding);
}

TEST(run, null_in_a_document_is_as_good_as_left_out) {
  json document = json::parse(to_json(example_run()));
  for (json& record : document["verdicts"]) {
    for (const char* key :
         {"model", "encoding", "reason", "measure", "worst", "bound", "witness", "replay"}) {
      if (!record.contains(key)) record[key] = nullptr;
    }
  }
  EXPECT_NE(document.dump().find("null"), std::string::npos);
  EXPECT_EQ(to_json(parse_run(document.dump(), "run.json")), to_json(example_run()));
  EXPECT_EQ(to_json(example_run()).find("null"), std::string::npos);
}

TEST(run, a_line_holds_a_verdict_and_long_encodings_stand_once) {
  auto run = example_run();
  const VerdictRecord longrope = run.result.verdicts[5];
  run.result.verdicts.push_back(longrope);
  const std::string text = to_json(run);
  const std::size_t at = text.find("scaling=longrope");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("scaling=longrope", at + 1), std::string::npos);
  EXPECT_NE(text.find("\n  {\"law\":\"rope_isometry\",\"kernel\":\"mine\""), std::string::npos);
}

std::string refusal_of(const std::string& text) {
  try {
    (void)parse_run(text, "run.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(run, what_no_run_has_written_is_refused_in_one_line) {
  const std::string good = to_json(example_run());
  ASSERT_EQ(refusal_of(good), "");
  // Cut anywhere: a sample of all lengths.
  for (std::size_t length = 0; length + 2 < good.size(); length += 97) {
    const std::string line = refusal_of(good.substr(0, length));
    EXPECT_TRUE(line.starts_with("run.json: ") && line.find('\n') == std::string::npos) << length << line;
  }
  const auto refused = [&](const std::function<void(json&)>& damage, const char* wanted) {
    json document = json::parse(good);
    damage(document);
    const std::string line = refusal_of(document.dump());
    EXPECT_NE(line.find(wanted), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  };
  refused([](json& d) { d["schema_version"] = 1; }, "schema version 1");
  refused([](json& d) { d["schema_version"] = "2\n"; }, "schema version");
  refused([](json& d) { d = json::array(); }, "no run document");
  refused([](json& d) { d["tool"] = 5; }, "no run document");
  refused([](json& d) { d["tool"]["name"] = "other"; }, "no run document");
  refused([](json& d) { d["document"] = "sweep"; }, "schema version");
  refused([](json& d) { d["verdicts"][0]["verdict"] = "great\x1b"; }, "verdict");
  refused([](json& d) { d["verdicts"][0]["operation"] = "spin"; }, "operation");
  refused([](json& d) { d["verdicts"][0]["dtype"] = "f8"; }, "dtype");
  refused([](json& d) { d["verdicts"][0]["worst"] = -1; }, "worst");
  refused([](json& d) { d["verdicts"][0]["measure"] = "<b>"; }, "measure");
  refused([](json& d) { d["verdicts"][0]["cases"] = -1; }, "negative");
  refused([](json& d) { d["verdicts"][0]["encoding"] = "@7"; }, "@7");
  refused([](json& d) { d["verdicts"][0]["encoding"] = "@99999999999999999999"; }, "encodings");
  refused([](json& d) { d["verdicts"][0].erase("law"); }, "law");
  refused([](json& d) { d["verdicts"][0]["witnes"] = d["verdicts"][0]["witness"]; }, "witnes");
  refused([](json& d) { d["verdicts"][0]["bound"] = "inf"; }, "infinite");
  refused([](json& d) { d["verdicts"].push_back(nullptr); }, "no object");
  refused([](json& d) { d["drift"][0]["by_octave"][1]["max_abs"] = "nan"; }, "max_abs");
  refused([](json& d) { d["drift"][0]["by_octave"][1]["first"] = 0; }, "out of order");
  refused([](json& d) { d["drift"][0]["by_octave"][1]["blocks"] = json::array(); }, "other blocks");
  refused([](json& d) { d["verdicts"].erase(0); }, "summary.pass");
  refused([](json& d) { d["verdicts"] = "none"; }, "no list");
  refused([](json& d) { d["drift"][0]["ulp_histogram"] = {1, 2}; }, "bins");
  refused([](json& d) { d["drift"][0]["ulp_histogram"][0] = -1; }, "counts");
  refused([](json& d) { d["drift"][0]["sum_ulp_2_16"] = "0x"; }, "hexadecimal");
  refused([](json& d) { d["drift"][0]["encoding"] = "rope(dim=7,theta=1)"; }, "no encoding");
  refused([](json& d) { d["drift"][0]["encoding"] = nullptr; }, "no encoding");
  refused([](json& d) { d["arguments"] = "; rm -rf /"; }, "arguments");
  refused([](json& d) { d["coverage"]["audit"]["kept"] = 1; }, "kept");
}

TEST(run, parts_merge_and_what_does_not_belong_together_is_refused) {
  const auto whole = example_run();
  auto mine = whole, simd = whole;
  const auto keep = [](sextant::Run& run, std::string_view kernel) {
    std::erase_if(run.result.verdicts, [&](const VerdictRecord& record) { return record.kernel != kernel; });
    std::erase_if(run.result.drift, [&](const DriftRecord& drift) { return drift.kernel != kernel; });
  };
  keep(mine, "mine");
  keep(simd, "simd/AVX2");
  simd.environment.libm_fingerprint = "other";
  const auto merged = merge_runs({mine, simd}, {"mine.json", "simd.json"});
  EXPECT_EQ(merged.result.verdicts.size(), whole.result.verdicts.size());
  EXPECT_EQ(merged.result.drift.size(), 2u);
  EXPECT_EQ(merged.models, 3u);
  EXPECT_EQ(merged.environment.libm_fingerprint, "24e29bfd70c722c7+other");
  EXPECT_EQ(merged.not_supported.size(), 1u);
  EXPECT_THROW((void)merge_runs({mine, mine}, {"a", "b"}), InputError);
  auto elsewhere = mine;
  for (VerdictRecord& record : elsewhere.result.verdicts) record.verdict = Verdict::unavailable;
  elsewhere.result.drift.clear();
  elsewhere.missing = {{"mine", "not here"}};
  const auto joined = merge_runs({elsewhere, elsewhere, mine}, {"a", "b", "c"});
  EXPECT_EQ(joined.result.verdicts.size(), mine.result.verdicts.size());
  EXPECT_EQ(summary_of(joined), summary_of(mine));
  EXPECT_TRUE(joined.missing.empty());
  EXPECT_EQ(merge_runs({elsewhere, elsewhere}, {"a", "b"}).missing.size(), 1u);
  elsewhere.result.drift = mine.result.drift;
  EXPECT_EQ(merge_runs({elsewhere, mine}, {"a", "b"}).result.drift.size(), 1u);
  ++elsewhere.result.drift[0].sum.low;
  EXPECT_THROW((void)merge_runs({elsewhere, mine}, {"a", "b"}), InputError);
  simd.seed = 8;
  EXPECT_THROW((void)merge_runs({mine, simd}, {"a", "b"}), InputError);
}

}  // namespace
}  // namespace sextant
