#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

const Encodings kBounded = {encoding_of("learned(rows=12,dim=5)"),
                            encoding_of("learned(rows=514,dim=16,offset=2)"),
                            encoding_of("sinusoidal(dim=16,layout=G,grid_columns=14)"),
                            encoding_of("sinusoidal(dim=24,layout=H,grid_rows=20,grid_columns=30)")};

TEST(encode_refusals, kernel) {
  expect_kept(encode_refusals(), kBounded);
  // In one dimension every position has a row.
  EXPECT_FALSE(encode_refusals().space(encoding_of("sinusoidal(dim=16)"), 4096, 0).has_value());
}

TEST(encode_refusals, teeth) {
  const Law law = encode_refusals();
  const auto reading = [](const std::function<std::int64_t(std::int64_t row, std::int64_t rows)>& row_of) {
    return encoding_by([row_of](const EncodeCall& call, const auto&) {
      const auto& scheme = std::get<Learned>(call.encoding);
      const std::vector<std::int64_t> positions = positions_in(call);
      for (std::size_t s = 0; s < positions.size(); ++s) {
        const bool pad = call.padding_mask && call.padding_mask.as<const std::int32_t>()[s] == 0;
        const std::int64_t row = pad ? scheme.offset - 1 : positions[s] + scheme.offset;
        for (std::int64_t j = 0; j < scheme.dim; ++j)
          write_element(call.rows, call.rows.offset(static_cast<std::int64_t>(s), j),
                        read_element(call.table, call.table.offset(row_of(row, scheme.rows), j)));
      }
    });
  };
  for (const char* text : {"learned(rows=12,dim=5)", "learned(rows=514,dim=16,offset=2)"}) {
    const auto caught = [&](const Kernel& kernel, const char* fault) {
      expect_caught(law, Operation::encode, kernel, {encoding_of(text)}, fault);
    };
    caught(reading([](std::int64_t row, std::int64_t) { return row; }), "whatever lies there");
    caught(reading([](std::int64_t row, std::int64_t rows) {
             return std::clamp<std::int64_t>(row, 0, rows - 1);
           }),
           "a row clamped");
    caught(reading([](std::int64_t row, std::int64_t rows) { return (row % rows + rows) % rows; }),
           "a row wrapped");
    caught(reading([](std::int64_t row, std::int64_t rows) {
             if (row >= rows) throw Refused("past the table");
             return row;
           }),
           "negative positions answered");
    caught(reading([](std::int64_t row, std::int64_t rows) {
             if (row < 0) throw Refused("before the table");
             return std::min(row, rows - 1);
           }),
           "the last row for those past it");
    caught(encoding_by([](const EncodeCall& call, const auto& serve) {
             try {
               serve(call);
             } catch (const Refused&) {
               throw Refused("");
             }
           }),
           "a refusal without a reason");
  }
  // Position -1 read through an offset lies in the table.
  expect_caught(law, Operation::encode, reading([](std::int64_t row, std::int64_t rows) {
                  if (row < 0 || row >= rows) throw Refused("outside the table");
                  return row;
                }),
                {encoding_of("learned(rows=514,dim=16,offset=2)")}, "position -1 with offset 2");
  expect_caught(law, Operation::encode, encoding_at([](std::int64_t p, std::int64_t, std::int64_t) {
                  return std::clamp<std::int64_t>(p, 0, 599);
                }),
                {encoding_of("sinusoidal(dim=24,layout=H,grid_rows=20,grid_columns=30)")},
                "a place outside the grid");
}

}  // namespace
}  // namespace sextant
