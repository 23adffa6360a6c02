#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(inputs_unchanged, kernel) { expect_conduct(inputs_unchanged()); }

TEST(inputs_unchanged, teeth) {
  expect_rotate_caught(inputs_unchanged(), "q scaled in place",
                       [](const RotateCall& call) { call.q.as<float>()[0] *= 1.5F; });
  expect_rotate_caught(inputs_unchanged(), "positions moved in place", [](const RotateCall& call) {
    if (call.positions.dtype == DType::i32) call.positions.as<std::int32_t>()[0] ^= 1;
  });
  Kernel faulty = scalar_kernel();
  faulty.rotate_with_tables = [right = faulty.rotate_with_tables](const RotateWithTablesCall& call) {
    right(call);
    call.cos.as<float>()[0] = 2;
  };
  expect_caught(inputs_unchanged(), Operation::rotate_with_tables, faulty, law_encodings(),
                "a table changed");
  faulty.encode = [right = faulty.encode](const EncodeCall& call) {
    right(call);
    if (call.table) call.table.as<float>()[0] += 1;
  };
  expect_caught(inputs_unchanged(), Operation::encode, faulty, other_schemes(), "a learned table changed");
  faulty.relative = [right = faulty.relative](const RelativeCall& call) {
    right(call);
    call.v.as<float>()[0] += 1;
  };
  expect_caught(inputs_unchanged(), Operation::relative, faulty, other_schemes(), "a value changed");
  faulty.attention = [right = faulty.attention](const AttentionCall& call) {
    right(call);
    call.k.as<float>()[0] += 1;
  };
  expect_caught(inputs_unchanged(), Operation::attention, faulty, law_encodings(), "a key changed");
}

}  // namespace
}  // namespace sextant
