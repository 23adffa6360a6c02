#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(rope_table_forms, truth) {
  // Every form holds the exact values of the half form, in all its copies.
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 5000);
    const TableRow<Interval> half = table_row(f, 4999, TableForm::half);
    for (const TableForm form :
         {TableForm::duplicated, TableForm::repeated, TableForm::half_half, TableForm::polar}) {
      const TableRow<Interval> row = table_row(f, 4999, form);
      const std::vector<Interval>& sin = holds_both(form) ? row.cos : row.sin;
      std::int64_t entries = 0;
      for (std::int64_t i = 0; i < rope.pairs(); ++i) {
        const TableSlots slots = table_slots(form, rope.pairs(), i);
        for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
          const std::int64_t shift = copy * slots.copy_step;
          EXPECT_TRUE(meet(row.cos[static_cast<std::size_t>(shift + slots.cos)],
                           half.cos[static_cast<std::size_t>(i)]));
          EXPECT_TRUE(
              meet(sin[static_cast<std::size_t>(shift + slots.sin)], half.sin[static_cast<std::size_t>(i)]));
          entries += 2;
        }
      }
      EXPECT_EQ(entries, static_cast<std::int64_t>(row.cos.size() + row.sin.size()));
    }
  }
}

TEST(rope_table_forms, kernel) {
  expect_kept(rope_table_forms());
  // Also where bits are not claimed.
  for (const Operation operation : rope_table_forms().operations) {
    EXPECT_EQ(run_trials(rope_table_forms(), operation, scalar_kernel(), law_encodings(), 20,
                         parse_contract("f32-angle"))
                  .failed,
              0);
  }
  const Trials rotated =
      run_trials(rope_table_forms(), Operation::rotate_with_tables, scalar_kernel(), law_encodings());
  EXPECT_GT(rotated.measure.share(), 0.25);
}

TEST(rope_table_forms, a_single_form_has_nothing_to_compare) {
  Kernel single = scalar_kernel();
  single.capabilities.forms = {TableForm::half};
  Case c;
  c.encoding = rope_of("rope(dim=4,theta=10000)");
  c.head_dim = 4;
  c.positions = {1};
  Truths truths;
  const Contract contract = claimed_contract(single);
  EXPECT_EQ(run_trial(rope_table_forms(), {c, Operation::tables, single, contract, truths}).verdict,
            Verdict::unsupported);
  EXPECT_EQ(
      run_trial(rope_table_forms(), {c, Operation::rotate_with_tables, single, contract, truths}).verdict,
      Verdict::pass);
}

TEST(rope_table_forms, teeth) {
  const Law law = rope_table_forms();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto tables_as = [](TableForm asked, TableForm given) {
    Kernel kernel = scalar_kernel();
    kernel.tables = [right = kernel.tables, asked, given](const TablesCall& call) {
      TablesCall other = call;
      if (call.form == asked) other.form = given;
      right(other);
    };
    kernel.rotate_with_tables = [right = kernel.rotate_with_tables, asked,
                                 given](const RotateWithTablesCall& call) {
      RotateWithTablesCall other = call;
      if (call.form == asked) other.form = given;
      right(other);
    };
    return kernel;
  };
  for (const auto& [asked, given] : {std::pair{TableForm::duplicated, TableForm::repeated},
                                     std::pair{TableForm::repeated, TableForm::duplicated}}) {
    for (const Operation operation : law.operations)
      expect_caught(law, operation, tables_as(asked, given), plain, "a form taken for another");
  }
  const auto swapped_in = [](TableForm form) {
    Kernel kernel = scalar_kernel();
    kernel.tables = [right = kernel.tables, form](const TablesCall& call) {
      right(call);
      if (call.form != form) return;
      float* data = call.cos.as<float>();
      if (holds_both(form)) std::swap(data[0], data[form == TableForm::polar ? 1 : call.cos.dim(1) / 2]);
      if (!holds_both(form)) std::swap(data[0], call.sin.as<float>()[0]);
    };
    return kernel;
  };
  for (const TableForm form : scalar_kernel().capabilities.forms)
    expect_caught(law, Operation::tables, swapped_in(form), plain, "cos and sin swapped in one form");

  Kernel missing = scalar_kernel();
  missing.tables = [right = missing.tables](const TablesCall& call) {
    right(call);
    if (call.form == TableForm::duplicated) call.sin.as<float>()[call.sin.dim(1) - 1] = NAN;
  };
  expect_caught(law, Operation::tables, missing, plain, "the last copy not written");

  const auto rotated = [](const std::function<void(RotateWithTablesCall&)>& change) {
    Kernel kernel = scalar_kernel();
    kernel.rotate_with_tables = [right = kernel.rotate_with_tables,
                                 change](const RotateWithTablesCall& call) {
      RotateWithTablesCall other = call;
      change(other);
      right(other);
    };
    return kernel;
  };
  expect_caught(law, Operation::rotate_with_tables,
                rotated([](RotateWithTablesCall& call) { call.rotate.positions = {}; }), plain,
                "rows by token instead of by position");
  expect_caught(law, Operation::rotate_with_tables, rotated([](RotateWithTablesCall& call) {
                  if (!holds_both(call.form)) std::swap(call.cos, call.sin);
                }),
                plain, "sin taken for cos");
  Kernel bit = scalar_kernel();
  bit.rotate_with_tables = [right = bit.rotate_with_tables](const RotateWithTablesCall& call) {
    right(call);
    float& first = call.rotate.q_out.as<float>()[0];
    if (call.form == TableForm::polar) first = std::nextafter(first, 0.0F);
  };
  expect_caught(law, Operation::rotate_with_tables, bit, plain, "one bit in one form");
}

}  // namespace
}  // namespace sextant
