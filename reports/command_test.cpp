// The sextant command as its users meet it: exit statuses, one-line errors, documents, replays.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/reference/number.hpp"

namespace sextant {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Ended {
  int status;
  std::string out, err;
};

/// A scratch folder, removed at the end.
class Command : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sextant_test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Ended run(const std::string& arguments) const {
    const std::string line =
        fmt::format("cd {} && {} {} >out.txt 2>err.txt", folder_.string(), SEXTANT_BINARY, arguments);
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / "out.txt"),
            read_file(folder_ / "err.txt")};
  }
  fs::path write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }

  fs::path folder_;
};

TEST_F(Command, every_bad_input_is_one_line_and_exit_2_with_nothing_written) {
  write("broken.json", "{\"head_dim\": 64,");
  write("list.json", "[1,2]");
  write("unknown.json", R"({"head_dim":64,"rope_parameters":{"rope_type":"spiral","rope_theta":10000}})");
  write("odd.json", R"({"head_dim":65,"rope_parameters":{"rope_type":"default","rope_theta":10000}})");
  write("zero.json", R"({"head_dim":0,"rope_parameters":{"rope_type":"default","rope_theta":10000}})");
  write(
      "ntk2.json",
      R"({"head_dim":2,"max_position_embeddings":64,"rope_parameters":{"rope_type":"ntk","rope_theta":10000,"factor":2}})");
  write("negative.json",
        R"({"head_dim":64,"rope_parameters":{"rope_type":"linear","rope_theta":10000,"factor":-2}})");
  write("text.json",
        R"({"head_dim":64,"rope_parameters":{"rope_type":"linear","rope_theta":10000,"factor":"four"}})");
  write(
      "short.json",
      R"({"head_dim":64,"max_position_embeddings":8192,"rope_parameters":{"rope_type":"longrope","rope_theta":10000,
        "original_max_position_embeddings":4096,"short_factor":[1,2],"long_factor":[1,2]}})");
  write("huge.json",
        R"({"head_dim":1000000000000,"rope_parameters":{"rope_type":"default","rope_theta":10000}})");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"table missing.json", "missing.json"},
      {"table broken.json", "broken.json"},
      {"table list.json", "list.json"},
      {"table unknown.json", "spiral"},
      {"table odd.json", "65"},
      {"table zero.json", "0"},
      {"table ntk2.json", "d/(d-2)"},
      {"table negative.json", "-2"},
      {"table text.json", "four"},
      {"table short.json", "32"},
      {"table huge.json", "65536"},
      {"table .", "."},
      {"table llama-9", "llama-9"},
      {"table gemma-3-4b", "full_attention"},
      {"table qwen3-vl-4b", "M-RoPE"},
      {"table 'alibi(heads=0)'", "heads"},
      {"table 'alibi(heads=12)' --seq-len 9", "alibi"},
      {"table 't5(buckets=0)'", "buckets"},
      {"table 't5(max_distance=8)'", "max_distance=8"},
      {"table 'deberta(buckets=256,max_position=129)'", "max_position=129"},
      {"table 'deberta(buckets=256,max_position=131)' --positions 0,1000", "1000"},
      {"table 't5()' --out t.npy", "t5"},
      {"sweep 'alibi(heads=12,form=last_key)' --kernel scalar", "last_key"},
      {"sweep 'alibi(heads=12,form=key)' --kernel scalar --positions -4:4", "keys, from 0 on"},
      {"sweep 'alibi(heads=12)' --kernel scalar --operation rotate", "swept on bias"},
      {"sweep 't5()' --kernel scalar --truth frequency", "--truth exact"},
      {"sweep 'deberta(buckets=256,max_position=131)' --kernel scalar --positions 0:1000", "up to"},
      {"sweep 'nope()' --kernel scalar", "sweep takes"},
      {"table 'rope(dim=7,theta=10000)'", "even"},
      {"table 'nope()'", "no position"},
      {"table 'shaw(left=-1,right=8)'", "left"},
      {"table 'shaw(left=64,right=8)' --out a.npy", "--out"},
      {"table 'transformer_xl(dim=7)'", "even"},
      {"table 'transformer_xl(dim=8,clamp=0)'", "clamp"},
      {"table 'learned(rows=8,dim=4)'", "learned"},
      {"verify --kernel scalar --encoding gpt2 --positions 1024", "positions 0 to 1023"},
      {"table 'sinusoidal(dim=8)' --out rows.npy", "--out"},
      {"table 'sinusoidal(dim=8,layout=H,grid_rows=2,grid_columns=3)' --positions 6", "6"},
      {"sweep 'learned(rows=8,dim=4)' --kernel scalar", "sweep takes rope, sinusoidal"},
      {"sweep 'sinusoidal(dim=8)' --table rows.npy --positions 0:4", "not --table"},
      {"sweep 'sinusoidal(dim=8)' --kernel scalar --operation rotate", "encode"},
      {"sweep 'sinusoidal(dim=8)' --kernel scalar/running --positions 0:4", "encode"},
      {"sweep 'sinusoidal(dim=8,layout=H,grid_rows=2,grid_columns=3)' --kernel scalar --positions 0:7",
       "0 to 5"},
      {"table llama-3.1-8b --positions 5:2", "reversed"},
      {"table llama-3.1-8b --positions 3:3", "empty"},
      {"table llama-3.1-8b --positions x", "x"},
      {"table llama-3.1-8b --positions ''", "--positions is empty"},
      {"table llama-3.1-8b --json ''", "--json is empty"},
      {"table llama-3.1-8b --digits x", "whole number"},
      {"table llama-3.1-8b --digits 1000 --positions 0:10000", "2^28"},
      {"table llama-3.1-8b --bare", "--out"},
      {"table llama-3.1-8b --out t.npy --json t.npy", "both"},
      {"table '\033[31mred'", "x1b"},
      {"sweep llama-3.1-8b", "--kernel"},
      {"sweep llama-3.1-8b --kernel scalar --table t.npy", "one of"},
      {"sweep llama-3.1-8b --table missing.npy --positions 0:4", "missing.npy"},
      {"sweep llama-3.1-8b --table odd.json --positions 0:4", ".npy"},
      {"sweep llama-3.1-8b --kernel scalar --positions 7", "A:B"},
      {"sweep llama-3.1-8b --kernel scalar --positions 9:9", "empty"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:1099511627776", "2^36"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4294967296", "2147483647"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --truth guess", "guess"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --truth table", "rotate_with_tables"},
      {"sweep llama-3.1-8b --kernel simd --positions 0:4 --truth angle", "angles"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --shard 4/4", "i/n"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --shard 0/9", "fewer"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --operation attention", "tables, rotate"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --threads -1", "--threads"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --search 10", "rotate"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --checkpoint odd.json", "checkpoint"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --json no/such/f.json", "no/such"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --truth angle --contract exact-angle",
       "--contract"},
      {"sweep llama-3.1-8b --kernel scalar --positions 0:4 --checkpoint a.json --json a.json", "both"},
      {"merge /dev/zero", "regular file"},
      {"merge .", "regular file"},
      {"merge odd.json", "no sweep document"},
      {"merge broken.json", "broken.json"},
      {"merge missing.json", "missing.json"},
      {"grade llama-3.1-8b --kernel none", "none"},
      {"grade llama-3.1-8b", "--kernel"},
      {"table llama-3.1-8b --positions 1099511627777", "2^40"},
      {"table llama-3.1-8b --positions 0:1000000000", "positions"},
      {"table llama-3.1-8b --positions 0:1000000", "--out"},
      {"table llama-3.1-8b --digits 0", "--digits"},
      {"table llama-3.1-8b --digits 100000", "1000"},
      {"table llama-3.1-8b --digits 5 --dtype f32", "exclude"},
      {"table llama-3.1-8b --dtype f8", "f8"},
      {"table llama-3.1-8b --seq-len 0", "--seq-len"},
      {"table llama-3.1-8b --out table.txt", ".npy"},
      {"table llama-3.1-8b --out no/such/folder/t.npy", "no/such/folder"},
      {"table llama-3.1-8b --json no/such/folder/t.json", "no/such/folder"},
      {"table llama-3.1-8b --json .", "directory"},
      {"table", "ENCODING"},
      {"verify --kernel fast", "fast"},
      {"verify --law gravity", "gravity"},
      {"verify --contract perfect", "perfect"},
      {"verify --seed blue", "blue"},
      {"verify --cases 0", "--cases"},
      {"verify --encoding llama-3.1-8b --cases 1 --json no/such/folder/run.json", "no/such/folder"},
      {"list weather", "weather"},
      {"replay 'law=rope_elementwise'", "kernel="},
      {"replay 'law=rope_elementwise kernel=x contract=f32-angle operation=rotate "
       "encoding=rope(dim=4,theta=10) positions=0'",
       "\"x\""},
      {"frobnicate", "frobnicate"},
      {"", "subcommand"},
      {"verify --no-such-flag", "--no-such-flag"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 2) << arguments << "\n" << ended.err;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_NE(ended.err.find(wanted), std::string::npos) << arguments << " -> " << ended.err;
    std::size_t errors = 0;
    std::istringstream lines(ended.err);
    for (std::string line; std::getline(lines, line);) errors += !line.starts_with("warning: ");
    EXPECT_EQ(errors, 1u) << arguments << " -> " << ended.err;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 12) << arguments;
  }
}

TEST_F(Command, tables_of_configs_agree_with_golden_to_38_digits) {
  const json golden = json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/fixtures/golden/golden.json"));
  const WorkingDigits scope(60);
  std::size_t values = 0;
  for (const json& entry : golden.at("rope")) {
    json config = entry.at("config");
    std::string seq_len;
    if (config.contains("seq_len")) {
      seq_len = fmt::format(" --seq-len {}", config.at("seq_len").get<std::int64_t>());
      config.erase("seq_len");
    }
    write("config.json", config.dump());
    const std::vector<std::int64_t> positions = entry.at("positions");
    const Ended ended = run(fmt::format("table config.json --positions {}{} --digits 40 --json -",
                                        fmt::join(positions, ","), seq_len));
    ASSERT_EQ(ended.status, 0) << ended.err;
    const json table = json::parse(ended.out);
    const auto agree = [&](const json& got, const json& want) {
      const Mpfr a(got.get<std::string>());
      const Mpfr b(want.get<std::string>());
      EXPECT_TRUE(b == 0 ? got == "0" : Mpfr(abs(a - b) / abs(b)) <= Mpfr(1e-38)) << config << got << want;
      ++values;
    };
    agree(table.at("attention_factor"), entry.at("attention_factor"));
    for (std::size_t i = 0; i < entry.at("inv_freq").size(); ++i)
      agree(table.at("inv_freq")[i], entry.at("inv_freq")[i]);
    for (std::size_t row = 0; row < entry.at("positions").size(); ++row) {
      for (std::size_t column = 0; column < entry.at("pairs").size(); ++column) {
        const std::size_t pair = entry.at("pairs")[column];
        agree(table.at("cos")[row][pair], entry.at("cos")[row][column]);
        agree(table.at("sin")[row][pair], entry.at("sin")[row][column]);
      }
    }
  }
  EXPECT_GT(values, 2000u);
  std::printf("table: %zu values of %zu configs agree to 38 digits\n", values, golden.at("rope").size());
}

TEST_F(Command, tables_of_relative_terms_are_rows_by_distance) {
  const json clipped = json::parse(run("table 'shaw(left=3,right=2)' --positions -5:5 --json -").out);
  EXPECT_EQ(clipped.at("buckets"), (json{0, 0, 0, 1, 2, 3, 4, 5, 5, 5}));
  // Computed apart with mpmath: d = 8, position 3.
  const json sin = {"0.14112000805986722210", "0.29552020666133957511", "0.029995500202495660769",
                    "0.0029999955000020249996"};
  const json cos = {"-0.98999249660044545727", "0.95533648912560601964", "0.99955003374898751627",
                    "0.99999550000337499899"};
  const auto row = [&](const std::string& encoding, int distance) {
    return json::parse(run(fmt::format("table '{}' --positions {} --json -", encoding, distance)).out)
        .at("rows")
        .at(0);
  };
  json halves = json::array(), interleaved = json::array();
  for (const json& part : {sin, cos}) halves.insert(halves.end(), part.begin(), part.end());
  for (std::size_t i = 0; i < 4; ++i) interleaved.insert(interleaved.end(), {sin[i], cos[i]});
  EXPECT_EQ(row("transformer_xl(dim=8)", 3), halves);
  EXPECT_EQ(row("transformer_xl(dim=8,form=conformer)", 3), interleaved);
  EXPECT_EQ(row("transformer_xl(dim=8,clamp=3)", 1000), halves);
}

TEST_F(Command, every_own_kernel_passes_on_at_least_40_real_configs) {
  const Ended ended = run("verify --cases 1 --json run.json");
  ASSERT_EQ(ended.status, 0) << ended.out << ended.err;
  const json run = json::parse(read_file(folder_ / "run.json"));
  std::set<std::string> models;
  for (const json& verdict : run.at("verdicts")) {
    const bool on_gpu = verdict.at("kernel").get<std::string>().starts_with("cuda/");
    EXPECT_TRUE(verdict.at("verdict") == "pass" || verdict.at("verdict") == "unsupported" ||
                (on_gpu && verdict.at("verdict") == "unavailable"))
        << verdict;
    if (verdict.at("kernel") == "scalar" && verdict.contains("model")) models.insert(verdict.at("model"));
  }
  EXPECT_GE(models.size(), 40u);
  EXPECT_GE(run.at("coverage").at("models").get<int>(), 40);
  EXPECT_GT(run.at("coverage").at("not_supported").size(), 0u);
  EXPECT_LE(std::count(ended.out.begin(), ended.out.end(), '\n'), 60);
  for (const char* key : {"schema_version", "tool", "environment", "seed", "summary", "verdicts"})
    EXPECT_TRUE(run.contains(key));
  for (const json& verdict : run.at("verdicts")) {
    for (const char* key : {"law", "kernel", "operation", "dtype", "contract", "verdict", "cases"})
      ASSERT_TRUE(verdict.contains(key)) << verdict;
    ASSERT_TRUE(verdict.at("verdict") != "pass" || verdict.contains("measure")) << verdict;
  }
}

TEST_F(Command, a_gpu_that_is_not_there_verifies_nothing) {
  const Ended listed = run("list kernels --json -");
  for (const json& kernel : json::parse(listed.out).at("kernels")) {
    const std::string name = kernel.at("id");
    if (!name.starts_with("cuda/") || kernel.at("status") == "available") continue;
    const Ended ended = run("verify --kernel " + name + " --encoding llama-3.1-8b");
    EXPECT_EQ(ended.status, 3) << name;
    EXPECT_NE(ended.out.find(kernel.at("reason").get<std::string>()), std::string::npos) << ended.out;
    for (const char* verb : {"sweep", "grade"}) {
      const Ended measured = run(fmt::format("{} llama-3.1-8b --kernel {}", verb, name));
      EXPECT_EQ(measured.status, 3) << verb << " " << name;
      EXPECT_EQ(measured.out, "");
      EXPECT_NE(measured.err.find(kernel.at("reason").get<std::string>()), std::string::npos) << measured.err;
    }
  }
}

TEST_F(Command, the_textbook_kernel_fails_exact_angle_with_a_witness_and_a_replay_that_fails_too) {
  const Ended ended = run("verify --kernel scalar --encoding llama-3.1-8b --contract exact-angle --json -");
  ASSERT_EQ(ended.status, 1);
  const json run_document = json::parse(ended.out);
  EXPECT_NE(ended.err.find("sextant replay '"), std::string::npos);
  EXPECT_NE(ended.err.find("leaves it at position"), std::string::npos);
  bool failed = false;
  for (const json& verdict : run_document.at("verdicts")) {
    if (verdict.at("verdict") != "fail") continue;
    failed = true;
    EXPECT_TRUE(verdict.at("witness").is_object());
    EXPECT_EQ(run(fmt::format("replay '{}'", verdict.at("replay").get<std::string>())).status, 1) << verdict;
  }
  EXPECT_TRUE(failed);
}

TEST_F(Command, output_is_deterministic) {
  const auto document = [&] {
    json run_document = json::parse(run("verify --encoding llama-3.1-8b --cases 2 --json -").out);
    run_document.erase("environment");
    return run_document;
  };
  EXPECT_EQ(document(), document());
}

TEST_F(Command, rounded_tables_are_written_whole) {
  ASSERT_EQ(run("table llama-3.1-8b --positions 0:3 --out t.npy").status, 0);
  ASSERT_EQ(run("table llama-3.1-8b --positions 0:3 --out t.safetensors --dtype bf16").status, 0);
  const std::string npy = read_file(folder_ / "t.npy");
  EXPECT_EQ(npy.substr(1, 5), "NUMPY");
  EXPECT_EQ(npy.size() % 64, 0u);
  EXPECT_EQ(npy.size(), 128u + 2 * 3 * 64 * 4);
  float first = 0;
  std::memcpy(&first, npy.data() + 128, 4);
  EXPECT_EQ(first, 1);
  const std::string tensors = read_file(folder_ / "t.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, tensors.data(), 8);
  const json header = json::parse(tensors.substr(8, length));
  EXPECT_EQ(header.at("cos").at("dtype"), "BF16");
  EXPECT_EQ(tensors.size(), 8 + length + 2 * 3 * 64 * 2);
}

TEST_F(Command, lists_and_help_and_version) {
  for (const char* what : {"kernels", "laws", "faults", "models", "contracts", "schemes"}) {
    const Ended ended = run(fmt::format("list {} --json -", what));
    ASSERT_EQ(ended.status, 0) << what;
    const json list = json::parse(ended.out).at(what);
    EXPECT_FALSE(list.empty());
    for (const json& entry : list) EXPECT_TRUE(entry.contains("id") && entry.contains("title"));
  }
  EXPECT_EQ(run("--version").out, "sextant 0.1.0\n");
  for (const char* verb : {"", "table ", "verify ", "gate ", "report ", "list ", "replay "}) {
    const Ended ended = run(fmt::format("{}--help", verb));
    EXPECT_EQ(ended.status, 0);
    EXPECT_GT(ended.out.size(), 200u);
  }
}

TEST_F(Command, nothing_to_verify_is_exit_3) {
  // llama3_bands does not speak of a linear encoding.
  EXPECT_EQ(
      run("verify --law llama3_bands --encoding 'rope(dim=64,theta=10000,scaling=linear(factor=2))'").status,
      3);
}

std::string without_timing(const std::string& text) {
  json document = json::parse(text);
  document.erase("points_per_second");
  document.erase("threads");
  return document.dump();
}

TEST_F(Command, shards_in_any_order_merge_to_the_bytes_of_one_run) {
  const std::string sweep =
      "sweep llama-3.1-8b --kernel scalar --contract exact-angle --positions 100:20100 ";
  ASSERT_EQ(run(sweep + "--threads 1 --json whole.json").status, 1);  // beyond the contract
  for (const char* shard : {"0", "1", "2"})
    ASSERT_EQ(run(fmt::format("{} --shard {}/3 --threads 2 --json part{}.json", sweep, shard, shard)).status,
              1);
  ASSERT_EQ(run("merge part2.json part0.json part1.json --json merged.json").status, 1);
  EXPECT_EQ(without_timing(read_file(folder_ / "whole.json")),
            without_timing(read_file(folder_ / "merged.json")));
  for (const auto& [files, wanted] :
       {std::pair{"part0.json part2.json", "missing"}, std::pair{"part0.json part0.json part1.json", "twice"},
        std::pair{"whole.json", "no shard"}}) {
    const Ended ended = run(fmt::format("merge {}", files));
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.err.find(wanted), std::string::npos) << ended.err;
  }
  ASSERT_EQ(
      run("sweep llama-3.1-8b --kernel scalar --positions 0:20100 --shard 1/3 --json other.json").status, 0);
  EXPECT_NE(run("merge part0.json other.json part2.json").err.find("different sweeps"), std::string::npos);
}

TEST_F(Command, documents_that_no_sweep_can_have_made_are_not_merged) {
  ASSERT_EQ(run("sweep llama-3.1-8b --kernel scalar --positions 0:64 --shard 0/2 --json part0.json").status,
            0);
  ASSERT_EQ(run("sweep llama-3.1-8b --kernel scalar --positions 0:64 --shard 1/2 --json part1.json").status,
            0);
  const json good = json::parse(read_file(folder_ / "part1.json"));
  const auto refused = [&](const std::function<void(json&)>& damage, const char* what) {
    json bad = good;
    damage(bad);
    write("bad.json", bad.dump());
    const Ended ended = run("merge part0.json bad.json --json out.json");
    EXPECT_EQ(ended.status, 2) << what;
    EXPECT_EQ(ended.out, "") << what;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << what << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "out.json"));
  };
  const std::uint64_t huge = ~std::uint64_t{0};
  refused([&](json& d) { d["points"] = huge; }, "points");
  refused([&](json& d) { d["points"] = 1; }, "points");
  refused([&](json& d) { d["by_octave"][0]["values"] = huge; }, "values");
  refused([&](json& d) { d["no_claim"] = huge / 2 + 1; }, "no_claim");
  refused([&](json& d) { d["no_claim"] = -5; }, "no_claim");
  refused([&](json& d) { d["by_octave"].push_back(d["by_octave"][0]); }, "octave twice");
  refused([&](json& d) { d["by_octave"][0]["max_ulp"] = -1e308; }, "max_ulp");
  refused([&](json& d) { d["witness"]["position"] = 77777; }, "witness");
  refused([&](json& d) { d["audit"]["kept"] = 5; }, "audit");
  refused([&](json& d) { d["by_octave"][0]["nan"] = huge; }, "nan");
  refused([&](json& d) { d["shard"]["count"] = std::uint64_t{1} << 36; }, "count");
  refused([&](json& d) { d["encoding"] = "rope(dim=3,theta=1)"; }, "encoding");
  refused([&](json& d) { d.erase("by_octave"); }, "cut");
}

TEST_F(Command, a_table_file_that_shrinks_under_the_sweep_ends_it_with_one_line) {
  // 2^22 rows of 16 pairs as a sparse file, cut while it is read.
  const std::string header =
      R"({"cos":{"dtype":"F32","shape":[4194304,16],"data_offsets":[0,268435456]},"sin":{"dtype":"F32","shape":[4194304,16],"data_offsets":[268435456,536870912]}})";
  std::string start(8, '\0');
  const std::uint64_t length = header.size() + (8 - header.size() % 8) % 8;
  std::memcpy(start.data(), &length, 8);
  write("big.safetensors", start + header + std::string(length - header.size(), ' '));
  fs::resize_file(folder_ / "big.safetensors", 8 + length + 536870912);
  const std::string line = fmt::format(
      "cd {} && ({} sweep 'rope(dim=32,theta=10000)' --table big.safetensors --positions 0:4194304 --threads "
      "1 >out.txt 2>err.txt; echo $? >status.txt) & sleep 0.15; truncate -s 4096 {}/big.safetensors; wait",
      folder_.string(), SEXTANT_BINARY, folder_.string());
  ASSERT_EQ(std::system(line.c_str()), 0);
  const std::string status = read_file(folder_ / "status.txt");
  if (status == "0\n") GTEST_SKIP() << "the sweep was over before the file was cut: the case was NOT tested";
  EXPECT_EQ(status, "2\n");
  const std::string complaint = read_file(folder_ / "err.txt");
  EXPECT_EQ(std::count(complaint.begin(), complaint.end(), '\n'), 1) << complaint;
}

// Leak checking is off there: Open MPI itself leaks at its end.
TEST_F(Command, a_sweep_under_mpirun_is_the_sweep_of_one_process) {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "mpirun is not installed: the MPI route was NOT tested";
  const std::string arguments = "sweep gpt-oss-20b --kernel scalar --positions 0:5000 --threads 1 ";
  ASSERT_EQ(run(arguments + "--json one.json").status, 0);
  const std::string line = fmt::format(
      "cd {} && ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -n 2 {} {} "
      "--json two.json >out.txt 2>err.txt",
      folder_.string(), SEXTANT_BINARY, arguments);
  const int status = std::system(line.c_str());
  const std::string complaint = read_file(folder_ / "err.txt");
  if (complaint.find("built without MPI") != std::string::npos)
    GTEST_SKIP() << "built without MPI: the MPI route was NOT tested";
  ASSERT_EQ(WEXITSTATUS(status), 0) << complaint;
  EXPECT_EQ(without_timing(read_file(folder_ / "one.json")), without_timing(read_file(folder_ / "two.json")));
}

TEST_F(Command, a_sweep_resumes_from_its_checkpoint) {
  const std::string sweep =
      "sweep 'rope(dim=1024,theta=10000)' --kernel scalar --positions 0:60000 --threads 2 --checkpoint-every "
      "0.1 ";
  // Killed in the middle, once it has kept a checkpoint.
  const std::string line = fmt::format(
      "cd {} && ({} {} --checkpoint kept >/dev/null 2>&1 & pid=$!; for i in $(seq 6000); do [ -s kept ] && "
      "break; kill -0 $pid 2>/dev/null || break; sleep 0.01; done; kill -9 $pid 2>/dev/null; wait $pid "
      "2>/dev/null; true)",
      folder_.string(), SEXTANT_BINARY, sweep);
  ASSERT_EQ(std::system(line.c_str()), 0);
  if (!fs::exists(folder_ / "kept"))
    GTEST_SKIP() << "the sweep was over before its first checkpoint: resuming was NOT tested";
  EXPECT_EQ(run("sweep llama-3.1-8b --kernel scalar --positions 0:10 --checkpoint kept").status,
            2);  // another sweep's
  const Ended resumed = run(sweep + "--checkpoint kept --json resumed.json");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming at position"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "kept"));
  ASSERT_EQ(run(sweep + "--json whole.json").status, 0);
  EXPECT_EQ(without_timing(read_file(folder_ / "whole.json")),
            without_timing(read_file(folder_ / "resumed.json")));
}

TEST_F(Command, a_table_file_is_swept_and_planted_damage_found) {
  ASSERT_EQ(run("table llama-3.1-8b --positions 0:300 --out good.npy").status, 0);
  const json good = json::parse(run("sweep llama-3.1-8b --table good.npy --positions 0:300 --json -").out);
  EXPECT_EQ(good.at("points"), 300 * 64);
  EXPECT_EQ(good.at("not_correctly_rounded"), 0);
  EXPECT_EQ(good.at("undecided"), 0);
  for (const char* key : {"encoding", "table", "truth", "points", "max_ulp", "mean_ulp", "max_abs", "nan",
                          "no_claim", "witness", "by_octave", "points_per_second", "threads"}) {
    EXPECT_TRUE(good.contains(key)) << key;
  }
  // sin at position 0, and one ulp elsewhere: the data begin at byte 128, sin follows 300 x 64 floats.
  std::string bytes = read_file(folder_ / "good.npy");
  const auto put = [&](std::size_t index, float value) {
    std::memcpy(bytes.data() + 128 + 4 * index, &value, 4);
  };
  put(300 * 64 + 5, 1e-30F);
  float entry = 0;
  std::memcpy(&entry, bytes.data() + 128 + 4 * (77 * 64 + 3), 4);
  put(77 * 64 + 3, std::nextafter(entry, 2.0F));
  write("bad.npy", bytes);
  const json bad = json::parse(run("sweep llama-3.1-8b --table bad.npy --positions 0:300 --json -").out);
  EXPECT_EQ(bad.at("not_correctly_rounded"), 2);
  EXPECT_EQ(bad.at("witness").at("position"), 0);
  put(200 * 64, NAN);
  write("nan.npy", bytes);
  const Ended nan = run("sweep llama-3.1-8b --table nan.npy --positions 0:300 --json -");
  EXPECT_EQ(nan.status, 1);
  EXPECT_EQ(json::parse(nan.out).at("nan"), 1);
  EXPECT_EQ(json::parse(nan.out).at("first_nan").at("position"), 200);
  EXPECT_EQ(run("sweep llama-3.1-8b --table good.npy --positions 0:299").status, 2);  // rows do not fit
}

TEST_F(Command, grade_tells_contracts_and_stages) {
  const json grade = json::parse(run("grade llama-2-7b --kernel scalar --json -").out);
  EXPECT_EQ(grade.at("contracts")[0].at("name"), "exact-angle");
  EXPECT_LT(grade.at("contracts")[0].at("up_to_position").get<int>(), 20);
  EXPECT_EQ(grade.at("contracts")[1].at("up_to_position"), 4095);
  EXPECT_FALSE(grade.at("stages").empty());
  EXPECT_FALSE(grade.at("stage_maxima").empty());
}

TEST_F(Command, a_worst_case_is_found_and_replays) {
  const json sweep = json::parse(run("sweep 'rope(dim=16,theta=10000)' --kernel scalar --operation rotate "
                                     "--positions 0:500 --search 200 --json -")
                                     .out);
  const json& worst = sweep.at("worst_case");
  EXPECT_GE(worst.at("pair_ulp").get<double>(), 0.98 * sweep.at("max_ulp").get<double>());
  EXPECT_EQ(run(fmt::format("replay '{}'", worst.at("replay").get<std::string>())).status, 1);
}

TEST_F(Command, a_closed_standard_error_is_no_crash) {
  for (const auto& [line, status] :
       {std::pair{" table nosuch.json 2>&-", 2},
        std::pair{" verify --kernel fault:throws --encoding llama-2-7b --law rope_isometry --cases 1 2>&- "
                  ">/dev/null",
                  1},
        std::pair{" table nosuch.json 2>/dev/full", 2}, std::pair{" bogus 2>&-", 2},
        std::pair{" verify --encoding llama-2-7b --law pi_scaling --cases 1 --json - >/dev/null 2>&-", 0},
        std::pair{" verify --encoding llama-2-7b --law pi_scaling --cases 1 >/dev/full 2>/dev/null", 2}}) {
    const int ended = std::system((std::string(SEXTANT_BINARY) + line).c_str());
    EXPECT_TRUE(WIFEXITED(ended)) << line;
    EXPECT_EQ(WEXITSTATUS(ended), status) << line;
  }
}

TEST_F(Command, bounds_that_overflow_say_nothing) {
  for (const char* encoding : {"rope(dim=8,theta=3.41e38)", "rope(dim=8,theta=1.7e308)",
                               "rope(dim=8,theta=5e-324)", "rope(dim=8,theta=10000,scaling=ntk(factor=1e30))",
                               "rope(dim=8,theta=10000,scaling=yarn(factor=1e38,original=4096))"}) {
    const Ended ended = run(fmt::format("verify --kernel scalar --encoding '{}' --json -", encoding));
    const json document = json::parse(ended.out);
    EXPECT_FALSE(document.at("verdicts").empty());
    for (const json& verdict : document.at("verdicts")) {
      EXPECT_NE(verdict.at("verdict"), "fail") << verdict;
      EXPECT_TRUE(!verdict.contains("bound") || verdict.at("bound").is_number()) << verdict;
    }
  }
}

TEST_F(Command, files_keep_their_mode_and_links_stay_links) {
  const fs::path file = write("run.json", "{}");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("run.json", folder_ / "link.json");
  ASSERT_EQ(run("list laws --json link.json").status, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_NE(read_file(file).find("rope_elementwise"), std::string::npos);
}

TEST_F(Command, kernels_that_misbehave_are_crashed_with_a_replay_and_the_run_goes_on) {
  json faults = json::parse(run("list faults --json -").out).at("faults");
  ASSERT_GE(faults.size(), 9u);
#if defined(__SANITIZE_ADDRESS__)
  std::puts("AddressSanitizer reserves terabytes: fault:memory was NOT tested");
  std::erase_if(faults.get_ref<json::array_t&>(),
                [](const json& fault) { return fault.at("id") == "memory"; });
#endif
  std::string kernels = "--kernel scalar";
  for (const json& fault : faults) kernels += fmt::format(" --kernel fault:{}", fault.at("id"));
  const Ended ended =
      run("verify --encoding 'rope(dim=8,theta=10000)' --law rope_elementwise --operation rotate --cases 2 "
          "--dtype f32 --json - " +
          kernels);
  EXPECT_EQ(ended.status, 1) << ended.err;
  const json verdicts = json::parse(ended.out).at("verdicts");
  ASSERT_EQ(verdicts.size(), faults.size() + 1);
  for (const json& verdict : verdicts) {
    const std::string kernel = verdict.at("kernel");
    EXPECT_EQ(verdict.at("verdict"), kernel == "scalar" ? "pass" : "crashed") << verdict;
    if (kernel == "scalar") continue;
    const Ended again = run(fmt::format("replay '{}'", verdict.at("replay").get<std::string>()));
    EXPECT_EQ(again.status, 1) << kernel;
    EXPECT_NE(again.out.find(verdict.at("reason").get<std::string>()), std::string::npos) << again.out;
  }
  for (const char* verb : {"sweep --positions 0:9", "grade"}) {
    const Ended crashed = run(fmt::format("{} llama-2-7b --kernel fault:exit", verb));
    EXPECT_EQ(crashed.status, 1);
    EXPECT_EQ(crashed.err, "sextant: the kernel crashed: exited with status 3\n");
  }
  EXPECT_EQ(run("--help").out.find("worker"), std::string::npos);
}

TEST_F(Command, a_kernel_that_hangs_costs_its_time_limit_once_per_operation) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run("verify --kernel fault:hang --encoding 'rope(dim=8,theta=10000)' --cases 2").status, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(Command, isolated_kernels_get_the_same_verdicts) {
  const std::string verify =
      "verify --kernel scalar --kernel simd --encoding llama-3.1-8b --encoding 'rope(head_dim=12,dim=4,"
      "theta=10000,pairing=interleaved)' --json - ";
  const Ended direct = run(verify), isolated = run(verify + "--isolate");
  EXPECT_EQ(direct.status, 0) << direct.err;
  for (const char* part : {"verdicts", "drift", "coverage"})
    EXPECT_TRUE(json::parse(direct.out).at(part) == json::parse(isolated.out).at(part)) << part;
}

TEST_F(Command, a_parent_that_is_killed_leaves_no_worker) {
  // The worker hangs when its parent is killed.
  const std::string line = fmt::format(
      "{} verify --kernel fault:hang --encoding 'rope(dim=8,theta=10000)' >/dev/null 2>&1 & parent=$!; "
      "for i in $(seq 3000); do child=$(cat /proc/$parent/task/$parent/children 2>/dev/null); "
      "[ -n \"$child\" ] && break; sleep 0.01; done; kill -9 $parent; "
      "[ -n \"$child\" ] || exit 2; "
      "for i in $(seq 3000); do grep -q '^State:.[^Z]' /proc/$child/status 2>/dev/null || exit 0; "
      "sleep 0.01; done; exit 1",
      SEXTANT_BINARY);
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Command, closed_standard_output_is_an_error_and_not_a_crash) {
  const int status = std::system(SEXTANT_BINARY " list models --json - >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Command, verify_refuses_what_it_cannot_fix_or_require) {
  for (const auto& [arguments, mentions] : std::vector<std::pair<std::string, std::string>>{
           {"--operation spin", "spin"},
           {"--law pi_scaling --operation attention", "attention"},
           {"--positions 5:2", "reversed"},
           {"--positions 0:5000", "4096"},
           {"--shape 1,2", "B,S,H"},
           {"--shape 1,2,3,4", "B,S,H"},
           {"--shape 1,0,3", "B,S,H"},
           {"--shape 1,-2,3", "B,S,H"},
           {"--shape 256,256,2", "65536"},
           {"--shape 1,2,1 --positions 0:3", "--positions has 3"},
           {"--require fast", "fast"},
           {"--time-limit 1", "--isolate"},
           {"--isolate --time-limit 0", "0.001"},
           {"--junit no/such/folder/run.xml", "no/such/folder"},
           {"--json run.out --junit run.out", "both"},
       }) {
    const Ended ended = run(fmt::format("verify --encoding llama-2-7b --cases 1 {}", arguments));
    EXPECT_EQ(ended.status, 2) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_NE(ended.err.find(mentions), std::string::npos) << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "run.out")) << arguments;
  }
}

TEST_F(Command, positions_shape_and_operation_of_cases_can_be_fixed) {
  const auto document = [&](const std::string& arguments) {
    return json::parse(run("verify --kernel scalar --encoding llama-2-7b --law rope_elementwise --cases 3 "
                           "--dtype f32 --json - " +
                           arguments)
                           .out);
  };
  const json fixed = document("--operation rotate --positions 7,4000 --shape 2,2,5");
  ASSERT_EQ(fixed.at("verdicts").size(), 1u);
  EXPECT_EQ(fixed.at("verdicts")[0].at("operation"), "rotate");
  EXPECT_EQ(fixed.at("verdicts")[0].at("verdict"), "pass");
  EXPECT_EQ(fixed.at("coverage").at("positions"), 3 * 2);
  const std::int64_t position = fixed.at("verdicts")[0].at("witness").at("position");
  EXPECT_TRUE(position == 7 || position == 4000) << position;
  EXPECT_EQ(document("--operation rotate --shape 1,33,1").at("coverage").at("positions"), 3 * 33);
  // A fixed position is never moved to where the kernel can go.
  const json negative = document("--operation rotate --positions 0,2147483648");
  EXPECT_EQ(negative.at("verdicts")[0].at("verdict"), "unsupported") << negative.at("verdicts")[0];
  // A failure at fixed positions replays.
  const json failed = document("--contract exact-angle --operation rotate --positions 4095 --shape 1,1,1");
  ASSERT_EQ(failed.at("verdicts")[0].at("verdict"), "fail");
  EXPECT_EQ(run(fmt::format("replay '{}'", failed.at("verdicts")[0].at("replay").get<std::string>())).status,
            1);
}

TEST_F(Command, a_required_kernel_is_verified_too_and_its_absence_is_exit_1) {
  const json list = json::parse(run("list kernels --json -").out);
  for (const json& kernel : list.at("kernels")) {
    const std::string name = kernel.at("id");
    const bool here = kernel.at("reason").is_null();
    const Ended ended =
        run(fmt::format("verify --kernel scalar --require {} --encoding llama-2-7b --law rope_elementwise "
                        "--operation rotate --cases 1 --dtype f32 --json -",
                        name));
    EXPECT_EQ(ended.status, here ? 0 : 1) << name;
    EXPECT_EQ(ended.err.find("is unavailable") != std::string::npos, !here) << ended.err;
    EXPECT_EQ(json::parse(ended.out).at("verdicts").size(), name == "scalar" ? 1u : 2u) << name;
  }
}

TEST_F(Command, junit_says_what_the_run_document_says) {
  const Ended ended =
      run("verify --kernel scalar --encoding llama-2-7b --contract exact-angle --cases 2 --json run.json "
          "--junit run.xml");
  EXPECT_EQ(ended.status, 1);
  const std::string xml = read_file(folder_ / "run.xml");
  const json summary = json::parse(read_file(folder_ / "run.json")).at("summary");
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (std::size_t at = xml.find(text); at != std::string::npos; at = xml.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_GT(count("<failure "), 0);
  EXPECT_EQ(count("<failure "), summary.at("fail"));
  EXPECT_EQ(count("<skipped "), summary.at("unavailable").get<int>() + summary.at("unsupported").get<int>());
  EXPECT_EQ(count("sextant replay 'law="), count("<failure "));
  EXPECT_NE(xml.find("classname=\"scalar.rope_elementwise\" name=\"llama-2-7b/rotate/f32\""),
            std::string::npos);
  // Standard output holds the document alone.
  const Ended alone =
      run("verify --kernel scalar --encoding llama-2-7b --law pi_scaling --cases 1 --junit -");
  EXPECT_TRUE(alone.out.starts_with("<?xml") && alone.out.ends_with("</testsuites>\n")) << alone.out;
}

TEST_F(Command, gate_and_report_refuse_in_one_line_and_touch_nothing) {
  const std::string verify = "verify --encoding llama-2-7b --law pi_scaling --cases 1 --kernel ";
  ASSERT_EQ(run(verify + "scalar --json run.json").status, 0);
  ASSERT_EQ(run(verify + "simd --json simd.json").status, 0);
  ASSERT_EQ(run("gate run.json --baseline base.json --update").status, 0);
  const std::string good = read_file(folder_ / "run.json");
  write("cut.json", good.substr(0, good.size() / 2));
  std::string other = good;
  other.replace(other.find("\"schema_version\": 2"), 19, "\"schema_version\": 9");
  write("other.json", other);
  write("kept.out", "as it was");
  fs::create_directory(folder_ / "empty");
  fs::create_symlink("loop.json", folder_ / "loop.json");
  for (const auto& [arguments, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"gate cut.json --baseline base.json --json kept.out", "ends too early"},
           {"gate other.json --baseline base.json --json kept.out", "schema version 9"},
           {"gate run.json --baseline cut.json --markdown kept.out", "cut.json"},
           {"gate run.json --baseline simd.json --json kept.out", "other kernels"},
           {"gate run.json --baseline none.json --json kept.out", "none.json"},
           {"gate cut.json --baseline kept.out --update", "cut.json"},
           {"gate run.json --baseline kept.out --update", "kept.out"},
           {"gate run.json --baseline no/such/base.json --update", "no/such"},
           {"gate run.json --baseline base.json --json kept.out --markdown kept.out", "both name kept.out"},
           {"gate run.json", "--baseline"},
           {"report cut.json --html kept.out", "ends too early"},
           {"report other.json --html kept.out", "schema version 9"},
           {"report run.json --html no/such/page.html", "no/such"},
           {"report run.json --html .", "directory"},
           {"report none.json", "none.json"},
           {"report empty --html kept.out", "empty"},
           {"report . --html kept.out", "cut.json"},
           {"merge run.json run.json --json kept.out", "stands in an earlier document"},
           {"merge run.json simd.json --json run.json", "would be overwritten"},
           {"report run.json --html ./run.json", "would be overwritten"},
           {"report . --markdown base.json", "would be overwritten"},
           {"gate run.json --baseline base.json --json base.json", "would be overwritten"},
           {"gate run.json --baseline base.json --update --json new.out", "excludes"},
           {"report run.json --html ./kept.out --markdown kept.out", "both name"},
           {"report run.json --html ./new.out --markdown new.out", "both name"},
           {"report run.json --html kept.out --markdown /dev/full", "No space"},
           {"report loop.json --html kept.out", "loop.json"},
           {"merge cut.json --json kept.out", "cut.json"},
       }) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.status, 2) << arguments << ended.err;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << arguments << ended.err;
    EXPECT_NE(ended.err.find(wanted), std::string::npos) << arguments << ended.err;
    EXPECT_EQ(read_file(folder_ / "kept.out"), "as it was") << arguments;
  }
}

TEST_F(Command, a_run_is_gated_merged_and_reported) {
  const std::string verify = "verify --encoding llama-2-7b --cases 1 --kernel ";
  ASSERT_EQ(run(verify + "scalar --json scalar.json").status, 0);
  ASSERT_EQ(run(verify + "simd --json simd.json").status, 0);
  ASSERT_EQ(run("merge scalar.json simd.json --json run.json").status, 0);
  ASSERT_EQ(run("gate run.json --baseline base.json --update").status, 0);
  EXPECT_EQ(run("gate run.json --baseline base.json").status, 0);
  const Ended gone = run("gate scalar.json --baseline base.json --json -");
  EXPECT_EQ(gone.status, 1);
  EXPECT_EQ(json::parse(gone.out).at("drift").size(), 1u);
  // The console text of a document is that of its run.
  const Ended told = run(verify + "scalar --json again.json");
  EXPECT_EQ(run("report again.json").out, told.out);
  fs::create_directory(folder_ / "history");
  for (const char* file : {"scalar.json", "run.json"}) fs::rename(folder_ / file, folder_ / "history" / file);
  ASSERT_EQ(run("grade llama-2-7b --kernel scalar --json history/grade.json").status, 0);
  ASSERT_EQ(run("report history --html page.html --markdown sum.md --junit junit.xml").status, 0);
  // A folder may hold copies and other things: told, and left out.
  fs::copy_file(folder_ / "history/run.json", folder_ / "history/zcopy.json");
  std::ofstream(folder_ / "history/other.json") << "[1]";
  fs::create_directory(folder_ / "history/folder.json");
  const Ended notes = run("report history --html page.html");
  EXPECT_EQ(notes.status, 0);
  EXPECT_NE(notes.err.find("other.json: left out"), std::string::npos) << notes.err;
  EXPECT_NE(notes.err.find("zcopy.json: left out: it is history/run.json again"), std::string::npos)
      << notes.err;
  EXPECT_EQ(run("report history/other.json").status, 2);
  for (const char* section : {"id=\"changes\"", "id=\"trends\"", "scalar on rope("})
    EXPECT_NE(read_file(folder_ / "page.html").find(section), std::string::npos) << section;
}

TEST_F(Command, the_script_of_ci_jobs_gates_and_keeps_documents) {
  const std::string script =
      fmt::format("env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY {}/.ci/verify-gate-report {}",
                  SEXTANT_SOURCE_DIR, SEXTANT_BINARY);
  const auto job = [&](const std::string& baseline, const std::string& options) {
    const std::string line = fmt::format("cd {} && mkdir -p out && {} out '{}' '{}' >out.txt 2>err.txt",
                                         folder_.string(), script, baseline, options);
    return WEXITSTATUS(std::system(line.c_str()));
  };
  const std::string good = "--kernel scalar --encoding llama-2-7b --law rope_elementwise --cases 1";
  EXPECT_EQ(job("", good), 0) << read_file(folder_ / "err.txt");
  for (const char* file : {"run.json", "junit.xml", "report.html", "summary.md", "annotations.txt"})
    EXPECT_TRUE(fs::exists(folder_ / "out" / file)) << file;
  fs::copy_file(folder_ / "out/run.json", folder_ / "base.json");
  EXPECT_EQ(job("base.json", good), 0);
  const std::string bad = good + " --contract exact-angle";
  EXPECT_EQ(job("", bad), 1);
  EXPECT_EQ(job("base.json", bad), 1);
  fs::copy_file(folder_ / "out/run.json", folder_ / "known.json");
  EXPECT_EQ(job("known.json", bad), 0);  // failures that are known do not stop
  EXPECT_EQ(job("", "--kernel none"), 2);
}

TEST_F(Command, sinusoidal_rows_are_printed_swept_and_verified) {
  const Ended table = run("table 'sinusoidal(dim=8,base=10000)' --positions 1,131071 --digits 40 --json -");
  ASSERT_EQ(table.status, 0) << table.err;
  const json printed = json::parse(table.out);
  ASSERT_EQ(printed.at("rows").size(), 2u);
  ASSERT_EQ(printed.at("rows")[1].size(), 8u);
  EXPECT_EQ(printed.at("rows")[0][1], "0.5403023058681397174009366074429766037323");
  EXPECT_EQ(printed.at("rows")[1][0], "-0.5752416837547893711382536595391953918097");
  EXPECT_NE(run("table 'sinusoidal(dim=9,layout=A)' --positions 3").out.find("zero"), std::string::npos);

  // Every element of every position, in shards and whole to the same bytes; a grid too.
  for (const auto& [encoding, length] : {std::pair{"sinusoidal(dim=31)", 5000},
                                         {"sinusoidal(dim=16,layout=H,grid_rows=20,grid_columns=30)", 600}}) {
    const std::string sweep =
        fmt::format("sweep '{}' --kernel scalar --contract f32-angle --positions 0:{}", encoding, length);
    ASSERT_EQ(run(sweep + " --json whole.json").status, 0);
    const json whole = json::parse(read_file(folder_ / "whole.json"));
    EXPECT_EQ(whole.at("operation"), "encode");
    EXPECT_EQ(whole.at("measure"), "ulp");
    EXPECT_EQ(whole.at("undecided"), 0);
    EXPECT_EQ(whole.at("contract").at("broken"), 0);
    EXPECT_EQ(whole.at("audit").at("kept"), true);
    EXPECT_EQ(run(whole.at("replay").get<std::string>().substr(8)).status, 0);
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(run(fmt::format("{} --shard {}/3 --json part{}.json", sweep, i, i)).status, 0);
    ASSERT_EQ(run("merge part2.json part0.json part1.json --json merged.json").status, 0);
    EXPECT_EQ(without_timing(read_file(folder_ / "whole.json")),
              without_timing(read_file(folder_ / "merged.json")));
  }
  const Ended simd = run("sweep 'sinusoidal(dim=64)' --kernel simd --positions 0:2000 --json -");
  EXPECT_EQ(json::parse(simd.out).at("not_correctly_rounded"), 0) << simd.err;

  for (const char* encoding : {"sinusoidal(dim=64,layout=A)", "learned(rows=1026,dim=64,offset=2)"}) {
    const Ended verified =
        run(fmt::format("verify --encoding '{}' --operation encode --cases 2 --kernel scalar --kernel simd "
                        "--kernel cuda-host/phase --kernel cuda-host/textbook",
                        encoding));
    EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
  }
}

TEST_F(Command, biases_and_buckets_are_swept_by_distance) {
  for (const char* encoding :
       {"bloom-560m", "t5-small#encoder", "deberta-v3-base", "shaw(left=64,right=8)"}) {
    const Ended swept =
        run(fmt::format("sweep '{}' --kernel simd --contract exact-angle --json -", encoding));
    EXPECT_EQ(swept.status, 0) << swept.err;
    const json document = json::parse(swept.out);
    EXPECT_EQ(document.at("not_correctly_rounded"), 0) << encoding;
    EXPECT_EQ(document.at("contract").at("broken"), 0) << encoding;
    EXPECT_GT(document.at("points"), 1000);
  }
  const std::string sweep = "sweep 'alibi(heads=12)' --kernel scalar --positions -3000:3000";
  ASSERT_EQ(run(sweep + " --json whole.json").status, 0);
  const json whole = json::parse(read_file(folder_ / "whole.json"));
  EXPECT_EQ(whole.at("operation"), "bias");
  EXPECT_EQ(whole.at("measure"), "ulp");
  EXPECT_EQ(whole.at("witness").at("function"), "bias");
  EXPECT_EQ(run(whole.at("replay").get<std::string>().substr(8)).status, 0);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(run(fmt::format("{} --shard {}/3 --json part{}.json", sweep, i, i)).status, 0);
  ASSERT_EQ(run("merge part2.json part0.json part1.json --json merged.json").status, 0);
  EXPECT_EQ(without_timing(read_file(folder_ / "whole.json")),
            without_timing(read_file(folder_ / "merged.json")));
  EXPECT_EQ(
      run("sweep 'alibi(heads=12)' --kernel scalar --contract exact-angle --positions -3000:3000").status, 1);
}

TEST_F(Command, table_of_alibi_t5_and_deberta) {
  const auto document = [&](const std::string& arguments) {
    const Ended ended = run("table " + arguments + " --json -");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(ended.out);
  };
  const json alibi = document("'alibi(heads=12)' --positions 0:3 --digits 9");
  EXPECT_EQ(alibi.at("slopes").size(), 12u);
  EXPECT_EQ(alibi.at("slopes")[8], "0.707106781");
  EXPECT_EQ(alibi.at("digits"), 9);
  EXPECT_EQ(document("'alibi(heads=12)' --dtype bf16").at("slopes")[8], "0.70703125");
  const json t5 = document("'t5(buckets=32,max_distance=128,bidirectional=true)' --positions -128:129");
  EXPECT_EQ(t5.at("buckets").size(), 257u);
  EXPECT_EQ(t5.at("buckets")[128 - 91], 15);
  EXPECT_EQ(t5.at("buckets")[128 + 8], 24);
  EXPECT_EQ(t5.at("distance"), "key - query");
  const json deberta = document("'deberta(buckets=256,max_position=512)' --positions 200,511,-512");
  EXPECT_EQ(deberta.at("buckets"), (std::vector<int>{169, 255, -256}));
  EXPECT_EQ(deberta.at("distance"), "query - key");
  EXPECT_NE(run("table 'alibi(heads=6)'").out.find("head    5  0.125"), std::string::npos);
}

}  // namespace
}  // namespace sextant
