#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"
#include "sextant/reference/shaw.hpp"

namespace sextant {
namespace {

const Encodings kSchemes = {Shaw{2, 1, true}, Shaw{0, 3, false}, Shaw{8, 4, true}, Shaw{16, 16, true}};

// Tokens shifted together keep their scores; with the tables 0 it is plain attention.
TEST(shaw_attention, truth) {
  const WorkingDigits scope(50);
  const Shaw scheme{2, 1, true};
  const auto rows = [](std::size_t count, std::int64_t salt) {
    Rows<Interval> x;
    for (std::size_t s = 0; s < count; ++s) {
      x.emplace_back();
      for (std::int64_t c = 0; c < 6; ++c)
        x.back().push_back(Interval((static_cast<std::int64_t>(s) * 5 + c * 3 + salt) % 7 - 3) / 4);
    }
    return x;
  };
  const Interval scale = Interval(1) / 2;
  const Rows<Interval> q = rows(4, 1), k = rows(6, 2), v = rows(6, 3), a = rows(4, 4), b = rows(4, 5);
  const Rows<Interval> none(4, std::vector<Interval>(6, Interval(0)));
  const auto plain = shaw_attention(scheme, q, k, v, none, none, scale);
  const auto bare = attention(q, k, v, scale, false);
  const auto whole = shaw_attention(scheme, q, k, v, a, b, scale);
  // The same queries, with two keys more before all others.
  Rows<Interval> longer = rows(2, 9);
  longer.insert(longer.end(), k.begin(), k.end());
  const Rows<Interval> later = shaw_scores(scheme, q, longer, a, scale);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t c = 0; c < 6; ++c) EXPECT_TRUE(meet(plain.out[i][c], bare[i][c]));
    for (std::size_t j = 0; j < 6; ++j) EXPECT_TRUE(meet(whole.scores[i][j], later[i][j + 2]));
  }
}

TEST(shaw_attention, kernel) {
  expect_kept(shaw_attention(), kSchemes);
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::relative)) continue;
    const Trials trials = run_trials(shaw_attention(), Operation::relative, kernel, kSchemes, 12);
    EXPECT_EQ(trials.failed, 0) << kernel.name << " " << trials.measure.share();
    EXPECT_GT(trials.measure.elements, 10000) << kernel.name;
  }
}

TEST(shaw_attention, teeth) {
  const Encodings uneven = {Shaw{2, 1, true}, Shaw{8, 4, true}};
  const Kernel right = scalar_kernel();
  const auto caught = [&](const std::function<void(const RelativeCall&)>& relative, const char* fault) {
    Kernel faulty = right;
    faulty.relative = relative;
    expect_caught(shaw_attention(), Operation::relative, faulty, uneven, fault);
  };
  /// The call with other tables, changed row by row: row r is source(r), times `factor`.
  const auto with_tables = [right](const RelativeCall& call, const Encoding& encoding, auto source,
                                   float factor, std::size_t changed) {
    std::vector<std::vector<float>> store;
    std::vector<Tensor> tables = call.tables;
    for (std::size_t t = 0; t < tables.size(); ++t) {
      if (changed != t && changed != 2) continue;
      const std::int64_t rows = tables[t].dim(0), channels = tables[t].dim(1);
      std::vector<float>& values = store.emplace_back();
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < channels; ++c)
          values.push_back(factor * tables[t].as<const float>()[tables[t].offset(source(r, rows), c)]);
      }
      tables[t] = dense(values.data(), DType::f32, rows, channels);
    }
    right.relative({encoding, call.q, call.k, call.v, tables, call.scores, call.out});
  };
  const auto same = [](std::int64_t r, std::int64_t) { return r; };
  const auto mirrored = [](std::int64_t r, std::int64_t rows) { return rows - 1 - r; };
  const auto exchanged = [](const Encoding& encoding) {
    const Shaw& scheme = std::get<Shaw>(encoding);
    return Shaw{scheme.right, scheme.left, scheme.values};
  };
  caught([=](const RelativeCall& call) { with_tables(call, exchanged(call.encoding), same, 1, 2); },
         "clipped to [-right, left]");
  caught([=](const RelativeCall& call) { with_tables(call, exchanged(call.encoding), mirrored, 1, 2); },
         "the row taken by query - key");
  caught([=](const RelativeCall& call) { with_tables(call, call.encoding, same, 0, 1); },
         "the values' term missing");
  caught([=](const RelativeCall& call) { with_tables(call, call.encoding, same, 0, 0); },
         "the keys' term missing");
  caught(
      [=](const RelativeCall& call) {
        with_tables(call, call.encoding, same, std::sqrt(static_cast<float>(call.q.dim(3))), 0);
      },
      "the scale on the products with keys alone");
  caught(
      [=](const RelativeCall& call) {
        with_tables(
            call, call.encoding, [](std::int64_t r, std::int64_t rows) { return std::min(r + 1, rows - 1); },
            1, 2);
      },
      "rows one off");
  caught(
      [=](const RelativeCall& call) {
        RelativeCall with_keys_exchanged = call;
        std::swap(with_keys_exchanged.tables[0], with_keys_exchanged.tables[1]);
        right.relative(with_keys_exchanged);
      },
      "the tables of keys and values exchanged");
  caught(
      [=](const RelativeCall& call) {
        // As many queries as keys, those asked for first: query i stands at i.
        const std::int64_t batch = call.k.dim(0), keys = call.k.dim(1), heads = call.k.dim(2),
                           d = call.k.dim(3);
        std::vector<float> q(static_cast<std::size_t>(call.k.elements())), out(q.size());
        std::vector<float> scores(static_cast<std::size_t>(batch * heads * keys * keys));
        const Tensor q_all = dense(q.data(), DType::f32, batch, keys, heads, d),
                     out_all = dense(out.data(), DType::f32, batch, keys, heads, d),
                     scores_all = dense(scores.data(), DType::f32, batch, heads, keys, keys);
        const auto each = [&](auto body) {
          for (std::int64_t b = 0; b < batch; ++b) {
            for (std::int64_t i = 0; i < call.q.dim(1); ++i) {
              for (std::int64_t h = 0; h < heads; ++h) body(b, i, h);
            }
          }
        };
        each([&](auto b, auto i, auto h) {
          std::copy_n(call.q.as<const float>() + call.q.offset(b, i, h), d, q.data() + q_all.offset(b, i, h));
        });
        right.relative({call.encoding, q_all, call.k, call.v, call.tables, scores_all, out_all});
        each([&](auto b, auto i, auto h) {
          std::copy_n(out.data() + out_all.offset(b, i, h), d,
                      call.out.as<float>() + call.out.offset(b, i, h));
          std::copy_n(scores.data() + scores_all.offset(b, h, i), keys,
                      call.scores.as<float>() + call.scores.offset(b, h, i));
        });
      },
      "queries counted from the first key");
}

}  // namespace
}  // namespace sextant
