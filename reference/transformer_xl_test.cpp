#include "sextant/reference/transformer_xl.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/rope.hpp"
#include "sextant/reference/scatter.hpp"

namespace sextant {
namespace {

using Form = TransformerXl::Form;

template <class Real>
Rows<Real> rows(std::int64_t count, std::int64_t channels, std::uint64_t salt) {
  Rows<Real> result;
  for (std::int64_t s = 0; s < count; ++s) {
    result.emplace_back();
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint64_t bits = scatter(salt + static_cast<std::uint64_t>(s * 131 + c * 7));
      result.back().push_back(Real(static_cast<int>(bits % 17) - 8) / Real(8));
    }
  }
  return result;
}

/// bd[i][r] = <q_i + v, R_r>, shifted as a tensor is: read row by row as [columns][queries] after `cut`
/// elements were dropped or a column of zeros put before, then read back as [queries][..].
Rows<Interval> reshaped(const Rows<Interval>& bd, std::size_t queries, std::size_t columns) {
  std::vector<Interval> flat;
  for (const auto& row : bd) flat.insert(flat.end(), row.begin(), row.end());
  flat.erase(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(flat.size() - queries * columns));
  Rows<Interval> shifted;
  for (std::size_t i = 0; i < queries; ++i)
    shifted.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i * columns),
                         flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
  return shifted;
}

/// XLNet's rel_shift_bnij: [queries][rows] read as [rows][queries], its first row dropped, read as
/// [queries][rows - 1], the first `keys` columns kept: out[i][j] = bd[i][j + queries - i].
/// The conformer's: a column of zeros put before, read as [rows + 1][queries], its first row dropped, read as
/// [queries][rows]: out[i][j] = bd[i][queries - 1 - i + j].
Rows<Interval> shifted(Form form, Rows<Interval> bd) {
  const std::size_t queries = bd.size(), columns = bd[0].size();
  if (form == Form::xlnet) return reshaped(bd, queries, columns - 1);
  for (auto& row : bd) row.insert(row.begin(), Interval(0));
  return reshaped(bd, queries, columns);
}

struct Head {
  Rows<Interval> q, k, values, r;
  std::vector<Interval> u, v;
  Interval scale = Interval(1) / 3;
};
Head head(std::int64_t queries, std::int64_t keys, std::int64_t rows_of_r) {
  return {rows<Interval>(queries, 6, 1),   rows<Interval>(keys, 6, 2), rows<Interval>(keys, 4, 3),
          rows<Interval>(rows_of_r, 6, 4), rows<Interval>(1, 6, 5)[0], rows<Interval>(1, 6, 6)[0]};
}

Rows<Interval> by_shift(Form form, const Head& head) {
  Rows<Interval> content = head.q, position = head.q;
  for (std::size_t i = 0; i < head.q.size(); ++i) {
    for (std::size_t c = 0; c < head.u.size(); ++c) {
      content[i][c] = content[i][c] + head.u[c];
      position[i][c] = position[i][c] + head.v[c];
    }
  }
  Rows<Interval> scores = attention_scores(content, head.k, head.scale);
  const Rows<Interval> bd = shifted(form, attention_scores(position, head.r, head.scale));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores[i].size(); ++j) scores[i][j] = scores[i][j] + bd[i][j];
  }
  return scores;
}

bool meet(const Interval& x, const Interval& y) {
  return lower(x) <= upper(y) && lower(y) <= upper(x) && Mpfr(upper(x) - lower(x)) < Mpfr(1e-50);
}

constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{5, 5}, {3, 8}, {1, 6}, {1, 1}, {4, 5}, {2, 9}};

TEST(transformer_xl, the_shift_of_a_reshaped_tensor_is_the_direct_sum) {
  const WorkingDigits scope(60);
  for (const Form form : {Form::xlnet, Form::conformer}) {
    const TransformerXl scheme{6, -1, form};
    for (const auto& [queries, keys] : kShapes) {
      const Head x = head(queries, keys, transformer_xl_rows(scheme, queries, keys));
      const auto direct = transformer_xl_attention(scheme, x.q, x.k, x.values, x.u, x.v, x.r, x.scale);
      const Rows<Interval> by_trick = by_shift(form, x);
      const Rows<Interval> out = weighted(softmax(by_trick, false), x.values);
      for (std::size_t i = 0; i < x.q.size(); ++i) {
        for (std::size_t j = 0; j < x.k.size(); ++j) EXPECT_TRUE(meet(direct.scores[i][j], by_trick[i][j]));
        for (std::size_t c = 0; c < 4; ++c) EXPECT_TRUE(meet(direct.out[i][c], out[i][c]));
      }
    }
  }
}

// In XLNet's one-directional list the distances end at 0, R has keys + 1 rows: up to the diagonal the trick
// is still the direct sum, and past it out[i][j] is a product of the NEXT query: with distance d = j - i -
// (keys - queries) > 0, element j + queries - i of row i is element d - 1 of row i + 1.
TEST(transformer_xl, a_list_that_stops_at_zero_puts_the_next_row_past_the_diagonal) {
  const WorkingDigits scope(60);
  const TransformerXl scheme{6, -1, Form::xlnet};
  for (const auto& [queries, keys] : kShapes) {
    const Head x = head(queries, keys, transformer_xl_rows(scheme, queries, keys));
    Head cut = x;
    cut.r.resize(static_cast<std::size_t>(keys + 1));
    Rows<Interval> bd = attention_scores(cut.q, cut.r, cut.scale);
    const Rows<Interval> whole = attention_scores(x.q, x.r, x.scale), shift = shifted(Form::xlnet, bd);
    const auto past = static_cast<std::size_t>(keys - queries);
    for (std::size_t i = 0; i < x.q.size(); ++i) {
      for (std::size_t j = 0; j < x.k.size(); ++j) {
        const std::size_t column = j + static_cast<std::size_t>(queries) - i;
        if (j <= i + past) {
          EXPECT_TRUE(meet(shift[i][j], whole[i][column]));
          continue;
        }
        const std::size_t ahead = j - i - past;
        EXPECT_TRUE(meet(shift[i][j], bd[i + 1][ahead - 1])) << i << " " << j;
        EXPECT_FALSE(meet(shift[i][j], whole[i][column])) << i << " " << j;
      }
    }
  }
}

TEST(transformer_xl, rows_name_their_distances) {
  const TransformerXl xlnet{6, -1, Form::xlnet}, conformer{6, -1, Form::conformer};
  EXPECT_EQ(transformer_xl_rows(xlnet, 3, 8), 11);
  EXPECT_EQ(transformer_xl_rows(conformer, 5, 5), 9);
  for (const TransformerXl& scheme : {xlnet, conformer}) {
    EXPECT_EQ(transformer_xl_row(scheme, 8, -2), transformer_xl_rows(scheme, 3, 8) - 1);
    EXPECT_EQ(transformer_xl_row(scheme, 8, 7), scheme.form == Form::xlnet ? 1 : 0);
  }
}

// d = 4, distance 1: the values of the catalogue of layouts; and sin is odd, cos even in the distance.
TEST(transformer_xl, sinusoids_in_both_layouts_clamped) {
  const WorkingDigits scope(40);
  const auto near = [](const std::vector<Interval>& row, std::initializer_list<double> want) {
    auto at = row.begin();
    for (const double value : want)
      EXPECT_NEAR(Mpfr(lower(*at++)).convert_to<double>(), value, 5e-7);  // as many digits as are printed
  };
  TransformerXl xlnet{4, -1, Form::xlnet}, conformer{4, -1, Form::conformer};
  near(transformer_xl_sinusoids<Interval>(xlnet, 1), {.841471, .0099998, .540302, .99995});
  near(transformer_xl_sinusoids<Interval>(conformer, 1), {.841471, .540302, .0099998, .99995});
  near(transformer_xl_sinusoids<Interval>(conformer, -1), {-.841471, .540302, -.0099998, .99995});
  near(transformer_xl_sinusoids<Interval>(xlnet, 0), {0, 0, 1, 1});
  xlnet.clamp = 3;
  EXPECT_EQ(clamped_distance(xlnet, 4), 3);
  EXPECT_EQ(clamped_distance(xlnet, -9), -3);
  EXPECT_EQ(clamped_distance(xlnet, -3), -3);
  EXPECT_EQ(clamped_distance(conformer, 1000), 1000);
  const auto far = transformer_xl_sinusoids<Mpfr>(xlnet, 50),
             at_clamp = transformer_xl_sinusoids<Mpfr>(xlnet, 3);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(far[c], at_clamp[c]);
}

TEST(transformer_xl, sinusoids_are_the_cosines_and_sines_of_a_rotary_encoding) {
  const WorkingDigits scope(60);
  for (const Form form : {Form::xlnet, Form::conformer}) {
    const TransformerXl scheme{10, 40, form};
    const Frequencies<Interval> f = frequencies<Interval>(rotary_of(scheme), 1);
    for (const std::int64_t distance : {0, 1, -17, 40, 41, -5000}) {
      const auto row = transformer_xl_sinusoids<Interval>(scheme, distance);
      const auto table = table_row(f, clamped_distance(scheme, distance), TableForm::half);
      for (std::int64_t i = 0; i < 5; ++i) {
        const SinusoidColumns columns = sinusoid_columns(sinusoids_of(scheme), i);
        EXPECT_TRUE(
            meet(row[static_cast<std::size_t>(columns.sine)], table.sin[static_cast<std::size_t>(i)]));
        EXPECT_TRUE(
            meet(row[static_cast<std::size_t>(columns.cosine)], table.cos[static_cast<std::size_t>(i)]));
      }
    }
  }
}

// sin^2 + cos^2 = 1 encloses, and products of rows depend on the difference of distances: the addition
// theorem, by another way than the definition.
TEST(transformer_xl, sinusoids_obey_the_addition_theorem) {
  const WorkingDigits scope(70);
  for (const Form form : {Form::xlnet, Form::conformer}) {
    const TransformerXl scheme{16, -1, form};
    const auto product = [&](std::int64_t a, std::int64_t b) {
      return dot(transformer_xl_sinusoids<Interval>(scheme, a),
                 transformer_xl_sinusoids<Interval>(scheme, b));
    };
    EXPECT_TRUE(meet(product(7, 7), Interval(8)));
    for (const std::int64_t a : {-900, 0, 5}) EXPECT_TRUE(meet(product(a, a + 13), product(13, 0)));
  }
}

}  // namespace
}  // namespace sextant
