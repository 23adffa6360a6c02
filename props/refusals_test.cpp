#include "sextant/props/conduct_test.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

TEST(refusals, kernel) { expect_conduct(refusals()); }

TEST(refusals, teeth) {
  const Law law = refusals();
  const auto right = scalar_kernel().rotate_with_tables;
  const auto with_rows = [&](const std::function<std::int64_t(std::int64_t, std::int64_t)>& row) {
    Kernel faulty = scalar_kernel();
    faulty.rotate_with_tables = [=](RotateWithTablesCall call) {
      std::vector<std::int64_t> rows;
      for (std::int64_t s = 0; s < call.rotate.positions.dim(0); ++s)
        rows.push_back(row(position_at(call.rotate.positions, 0, s), call.cos.dim(0)));
      call.rotate.positions = dense(rows.data(), DType::i64, rows.size());
      right(call);
    };
    return faulty;
  };
  expect_caught(law, Operation::rotate_with_tables,
                with_rows([](std::int64_t p, std::int64_t n) { return std::min(p, n - 1); }), law_encodings(),
                "rows past the end clamped");
  expect_caught(law, Operation::rotate_with_tables,
                with_rows([](std::int64_t p, std::int64_t n) { return p < 0 ? p + n : p; }), law_encodings(),
                "negative rows count from the end");
  Kernel faulty = scalar_kernel();
  faulty.rotate_with_tables = [=](RotateWithTablesCall call) {
    const std::int64_t pairs = std::get<Rope>(call.rotate.encoding).pairs();
    for (Tensor* table : {&call.cos, &call.sin})
      table->shape[1] = table->rank == 3 ? pairs : row_width(call.form, pairs);
    right(call);
  };
  expect_caught(law, Operation::rotate_with_tables, faulty, law_encodings(), "the width never looked at");
  faulty.rotate_with_tables = [=](const RotateWithTablesCall& call) {
    try {
      right(call);
    } catch (const Refused&) {
      throw Refused("");
    }
  };
  expect_caught(law, Operation::rotate_with_tables, faulty, law_encodings(), "no reason is given");
}

}  // namespace
}  // namespace sextant
