#include "sextant/reference/transformer_xl.hpp"

#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

using Form = TransformerXl::Form;

const Encodings kSchemes = {TransformerXl{64, -1, Form::xlnet}, TransformerXl{64, 5, Form::xlnet},
                            TransformerXl{64, -1, Form::conformer}};

// That the trick is the direct sum, and what it leaves past the diagonal, stands in
// reference/transformer_xl_test.cpp. Here: scores depend on the distance alone, whatever lies before.
TEST(transformer_xl_shift, truth) {
  const WorkingDigits scope(50);
  for (const Form form : {Form::xlnet, Form::conformer}) {
    const TransformerXl scheme{6, -1, form};
    const auto sinusoids = [&](std::int64_t queries, std::int64_t keys) {
      Rows<Interval> r(static_cast<std::size_t>(transformer_xl_rows(scheme, queries, keys)));
      for (std::int64_t distance = 1 - queries; distance < keys; ++distance)
        r[static_cast<std::size_t>(transformer_xl_row(scheme, keys, distance))] =
            transformer_xl_sinusoids<Interval>(scheme, distance);
      return r;
    };
    const std::vector<Interval> x(6, Interval(1)), u(6, Interval(1) / 4), v(6, Interval(1) / 2);
    const Rows<Interval> q(3, x), k(5, x), longer(9, x);
    const auto scores = transformer_xl_scores(scheme, q, k, u, v, sinusoids(3, 5), Interval(1));
    const auto later = transformer_xl_scores(scheme, q, longer, u, v, sinusoids(3, 9), Interval(1));
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 5; ++j) EXPECT_TRUE(meet(scores[i][j], later[i][j + 4], 100));
    }
    EXPECT_TRUE(meet(scores[0][0], scores[1][1]));
    EXPECT_FALSE(meet(scores[0][0], scores[1][0], 100));
  }
}

TEST(transformer_xl_shift, kernel) {
  expect_kept(transformer_xl_shift(), kSchemes);
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::relative)) continue;
    const Trials trials = run_trials(transformer_xl_shift(), Operation::relative, kernel, kSchemes, 12);
    EXPECT_EQ(trials.failed, 0) << kernel.name << " " << trials.measure.share();
    EXPECT_GT(trials.measure.elements, 10000) << kernel.name;
  }
}

/// The right kernel query by query, R beginning at row first(i, queries) for query i; the right one begins at
/// queries - 1 - i.
Kernel beginning(const std::function<std::int64_t(std::int64_t, std::int64_t)>& first) {
  Kernel kernel = scalar_kernel();
  kernel.relative = [right = kernel.relative, first](const RelativeCall& call) {
    const std::int64_t queries = call.q.dim(1);
    for (std::int64_t i = 0; i < queries; ++i) {
      const auto only = [&](Tensor tensor, int axis, std::int64_t at, std::int64_t count) {
        tensor.data = tensor.as<float>() + at * tensor.stride(axis);
        tensor.shape[static_cast<std::size_t>(axis)] = count;
        return tensor;
      };
      const Tensor& r = call.tables[2];
      right({call.encoding,
             only(call.q, 1, i, 1),
             call.k,
             call.v,
             {call.tables[0], call.tables[1], only(r, 0, first(i, queries), r.dim(0) + 1 - queries)},
             only(call.scores, 2, i, 1),
             only(call.out, 1, i, 1)});
    }
  };
  return kernel;
}

/// The right kernel on tables that `change` replaces, given copies of their values.
Kernel with_tables(const std::function<void(const RelativeCall&, std::vector<std::vector<float>>&)>& change) {
  Kernel kernel = scalar_kernel();
  kernel.relative = [right = kernel.relative, change](const RelativeCall& call) {
    std::vector<std::vector<float>> values;
    for (const Tensor& table : call.tables)
      values.emplace_back(table.as<const float>(), table.as<const float>() + table.elements());
    change(call, values);
    std::vector<Tensor> tables = call.tables;
    for (std::size_t t = 0; t < tables.size(); ++t) tables[t].data = values[t].data();
    right({call.encoding, call.q, call.k, call.v, tables, call.scores, call.out});
  };
  return kernel;
}

TEST(transformer_xl_shift, teeth) {
  const Law law = transformer_xl_shift();
  for (const Encoding& scheme : kSchemes) {
    const Encodings one = {scheme};
    const auto caught = [&](const Kernel& kernel, const char* fault) {
      expect_caught(law, Operation::relative, kernel, one, fault);
    };
    using Values = std::vector<std::vector<float>>;
    EXPECT_EQ(
        run_trials(law, Operation::relative, beginning([](auto i, auto n) { return n - 1 - i; }), one).failed,
        0);
    caught(beginning([](auto, auto) { return 0; }), "not shifted");
    caught(beginning([](auto i, auto) { return i; }), "shifted the other way");
    caught(beginning([](auto i, auto n) { return std::max<std::int64_t>(n - 2 - i, 0); }),
           "the shift one off");
    caught(with_tables([](const RelativeCall& call, Values& values) {
             std::rotate(values[2].begin(), values[2].begin() + call.tables[2].stride(0), values[2].end());
           }),
           "the other form's list of distances");
    caught(with_tables([](const RelativeCall& call, Values& values) {
             const auto row = call.tables[2].stride(0);
             for (std::int64_t r = 0, last = call.tables[2].dim(0) - 1; r < last; ++r, --last)
               std::swap_ranges(values[2].begin() + r * row, values[2].begin() + (r + 1) * row,
                                values[2].begin() + last * row);
           }),
           "R in reverse");
    caught(with_tables([](const RelativeCall&, Values& values) { std::swap(values[0], values[1]); }),
           "u and v exchanged");
    caught(with_tables([](const RelativeCall&, Values& values) {
             std::fill(values[1].begin(), values[1].end(), 0.0F);
           }),
           "v left out");
    caught(with_tables([](const RelativeCall& call, Values& values) {
             for (float& value : values[2]) value *= std::sqrt(static_cast<float>(call.q.dim(3)));
           }),
           "the scale on the products with keys alone");
    caught(with_tables([](const RelativeCall& call, Values& values) {
             // Distances below 0 given the row of their magnitude.
             const auto& form = std::get<TransformerXl>(call.encoding);
             const std::int64_t keys = call.k.dim(1), row = call.tables[2].stride(0);
             for (std::int64_t d = 1; d < call.q.dim(1); ++d)
               std::copy_n(values[2].begin() + transformer_xl_row(form, keys, d) * row, row,
                           values[2].begin() + transformer_xl_row(form, keys, -d) * row);
           }),
           "the distance without its sign");
    Kernel junk = scalar_kernel();
    junk.relative = [right = junk.relative](const RelativeCall& call) {
      right(call);
      // Past the diagonal what the trick puts there where the list stops at 0: the next query's.
      const std::int64_t queries = call.q.dim(1), keys = call.k.dim(1), d = call.q.dim(3);
      for (std::int64_t i = 0; i + 1 < queries; ++i) {
        for (std::int64_t j = i + 1 + keys - queries; j < keys; ++j) {
          const float* q = call.q.as<const float>() + call.q.offset(0, i);
          const float* next = call.q.as<const float>() + call.q.offset(0, i + 1);
          const float* k = call.k.as<const float>() + call.k.offset(0, j);
          const float* u = call.tables[0].as<const float>();
          const float* v = call.tables[1].as<const float>();
          const float* r =
              call.tables[2].as<const float>() + call.tables[2].offset(j - i - 1 - keys + queries);
          float sum = 0;
          for (std::int64_t c = 0; c < d; ++c) sum += (q[c] + u[c]) * k[c] + (next[c] + v[c]) * r[c];
          call.scores.as<float>()[call.scores.offset(0, 0, i, j)] = sum / std::sqrt(static_cast<float>(d));
        }
      }
    };
    caught(junk, "the next row's value past the diagonal");
  }
}

// A list that stops at distance 0 has no row for keys after the query: own kernels refuse it.
TEST(transformer_xl_shift, a_list_without_rows_for_later_keys_is_refused) {
  const Encoding encoding = TransformerXl{4, -1, Form::xlnet};
  std::vector<float> x(64), scores(9), out(12);
  const Tensor heads = dense(x.data(), DType::f32, 1, 3, 1, 4), bias = dense(x.data(), DType::f32, 1, 4);
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::relative)) continue;
    const auto with_rows = [&](std::int64_t rows) {
      kernel.relative({encoding,
                       heads,
                       heads,
                       heads,
                       {bias, bias, dense(x.data(), DType::f32, rows, 1, 4)},
                       dense(scores.data(), DType::f32, 1, 1, 3, 3),
                       dense(out.data(), DType::f32, 1, 3, 1, 4)});
    };
    EXPECT_NO_THROW(with_rows(6)) << kernel.name;
    EXPECT_THROW(with_rows(4), Refused) << kernel.name;
  }
}

}  // namespace
}  // namespace sextant
