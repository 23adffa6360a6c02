#include "sextant/reference/oracle/audit.hpp"

#include <gtest/gtest.h>

#include "sextant/reference/number.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {
namespace {

const Rope kLlama = std::get<Rope>(
    parse_encoding("rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))"));

TEST(Audit, the_oracle_keeps_its_bounds_and_shards_audit_what_one_run_does) {
  const Oracle oracle(kLlama, 1, 0, 100000);
  const Audit whole = audit(oracle, kLlama, 1, 0, 100000);
  EXPECT_TRUE(whole.kept());
  EXPECT_GT(whole.points, 150u);
  EXPECT_GT(whole.worst_share, 0.25);
  Audit parts = audit(oracle, kLlama, 1, 0, 333);
  parts += audit(oracle, kLlama, 1, 333, 100000);
  EXPECT_EQ(parts.points, whole.points);
  std::printf("audit: %llu points, worst %.3f of the bound\n", static_cast<unsigned long long>(whole.points),
              whole.worst_share);
}

TEST(Audit, an_oracle_of_another_encoding_is_found_out) {
  Rope other = kLlama;
  other.theta = 500000.0000001;
  EXPECT_FALSE(audit(Oracle(other, 1, 0, 4096), kLlama, 1, 0, 4096).kept());
}

// The whole of one table, entry by entry, against arbitrary precision: half a minute at most.
TEST(Audit, the_whole_of_one_table) {
  const Rope rope =
      std::get<Rope>(parse_encoding("rope(dim=16,theta=10000,scaling=yarn(factor=4,original=4096))"));
  const std::int64_t length = 16384;
  const Oracle oracle(rope, 1, 0, length);
  std::vector<float> cos(static_cast<std::size_t>(length * 8)), sin(cos.size());
  EXPECT_EQ(oracle.produce(0, length, kFloat32, {cos.data(), 8, 1}, {sin.data(), 8, 1}), 0u);
  const WorkingDigits scope(60);
  const Frequencies<Mpfr> f = frequencies<Mpfr>(rope, 1);
  std::size_t wrong = 0;
  for (std::int64_t p = 0; p < length; ++p) {
    const TableRow<Mpfr> row = table_row(f, p, TableForm::half);
    for (std::size_t k = 0; k < 8; ++k) {
      const auto at = static_cast<std::size_t>(p) * 8 + k;
      wrong += cos[at] != row.cos[k].convert_to<float>();
      wrong += sin[at] != row.sin[k].convert_to<float>();
    }
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace sextant
