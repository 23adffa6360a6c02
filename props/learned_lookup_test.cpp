#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(learned_lookup, truth) {
  // Positions 0 .. rows - offset - 1 read rows offset .. rows - 1, each once, and padding the row before
  // them: a table of 514 rows serves 512 positions with offset 2 (padding index 1), 510 with offset 4 (index
  // 3).
  for (const auto& [text, usable] : {std::pair{"learned(rows=514,dim=4,offset=2)", std::int64_t{512}},
                                     {"learned(rows=514,dim=4,offset=4)", std::int64_t{510}}}) {
    const std::optional<CaseSpace> space = encode_space(parse_encoding(text), 512, 0);
    EXPECT_EQ(space->max_position, usable - 1);
  }
  // The drawn table has no two equal rows, so that a wrong row shows.
  const Learned scheme{300, 8, 2};
  const LearnedTable table(scheme, 7, DType::bf16);
  for (std::int64_t row = -1; row < 300; ++row) {
    bool same = true;
    for (std::int64_t j = 0; j < scheme.dim; ++j)
      same = same && same_bits_of(table.at(row, j), table.at(row + 1, j));
    EXPECT_FALSE(same);
  }
}

TEST(learned_lookup, kernel) { expect_kept(learned_lookup(), learned_encodings()); }

TEST(learned_lookup, teeth) {
  const Law law = learned_lookup();
  const Encoding opt = encoding_of("learned(rows=514,dim=16,offset=2)");
  const auto caught = [&](const Kernel& kernel, const char* fault) {
    expect_caught(law, Operation::encode, kernel, {opt}, fault);
  };
  const auto at = [](std::int64_t shift) {
    return encoding_at([shift](std::int64_t p, std::int64_t, std::int64_t) {
      return std::clamp<std::int64_t>(p + shift, 0, 511);
    });
  };
  caught(at(-1), "one row before");
  caught(at(1), "one row after");
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           // The table's rows from the start: offset 0 for 2.
           const auto scheme = std::get<Learned>(call.encoding);
           const Encoding plain = Learned{scheme.rows, scheme.dim, 0};
           serve({plain, call.positions, call.padding_mask, call.table, call.rows});
         }),
         "offset 0 for 2");
  caught(
      encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return std::min<std::int64_t>(p, 200); }),
      "clamped");
  caught(encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p % 256; }), "wrapped");
  expect_caught(law, Operation::encode, encoding_at([](std::int64_t p, std::int64_t, std::int64_t) {
                  return p > 2048 ? p - p % 2 : p;
                }),
                {encoding_of("learned(rows=4096,dim=16,offset=2)")}, "positions cut to float16's 11 bits");
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           serve(call);
           for (std::int64_t j = 0; j < call.rows.dim(1); ++j) {
             const std::int64_t to = call.rows.offset(0, j);
             write_element(call.rows, to, rounded_to(DType::bf16, read_element(call.rows, to)));
           }
         }),
         "rows through bfloat16");
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           serve({call.encoding, call.positions, call.padding_mask, call.table, call.rows});
           call.table.as<float>()[0] += 1;
         }),
         "the table changed");
}

}  // namespace
}  // namespace sextant
