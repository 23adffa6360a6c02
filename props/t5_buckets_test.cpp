#include "sextant/reference/t5.hpp"

#include <cmath>
#include <cstring>

#include "sextant/props/bias_law_test.hpp"

namespace sextant {
namespace {

const T5 kBoth{32, 128, true}, kCausal{32, 128, false};
const Encodings kSchemes = {Encoding(kBoth),
                            Encoding(kCausal),
                            Encoding(T5{64, 128, false}),
                            Encoding(T5{8, 20, true}),
                            Encoding(T5{320, 800, true}),
                            Encoding(T5{4, 2, true}),
                            Encoding(T5{2, 2, false}),
                            Encoding(T5{7, 5, false})};

TEST(t5_buckets, kernel) {
  expect_kept_by_all(t5_buckets(), Operation::buckets, kSchemes, 15);
  expect_kept_by_all(t5_buckets(), Operation::bias, kSchemes, 9);
}

/// HuggingFace's order of operations, with every step in the hands of `round` and `ln`.
struct Recipe {
  T5 t5;
  std::function<double(double)> round = [](double x) { return x; };
  std::function<double(double)> ln = [](double x) { return std::log(x); };
  std::function<double(double)> whole = [](double x) { return std::trunc(x); };

  [[nodiscard]] std::int64_t of_distance(std::int64_t r) const {
    const std::int64_t nb = buckets_per_direction(t5), e = nb / 2;
    if (r < e) return r;
    const double top = round(ln(round(static_cast<double>(t5.max_distance) / static_cast<double>(e))));
    const double log = round(ln(round(static_cast<double>(r) / static_cast<double>(e))));
    const double x = round(round(log / top) * static_cast<double>(nb - e));
    return std::min(nb - 1, e + static_cast<std::int64_t>(whole(x)));
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t query, std::int64_t key) const {
    const std::int64_t relative = key - query;
    if (!t5.bidirectional) return of_distance(relative < 0 ? -relative : 0);
    return of_distance(std::abs(relative)) + (relative > 0 ? t5.buckets / 2 : 0);
  }
};
double in_float(double x) { return static_cast<double>(static_cast<float>(x)); }
double in_brain(double x) { return static_cast<double>(rounded_to(DType::bf16, static_cast<float>(x))); }

std::vector<std::int64_t> wrong_distances(const Recipe& recipe) {
  const LogBuckets direction = log_buckets(recipe.t5);
  std::vector<std::int64_t> wrong;
  for (std::int64_t r = 0; r < 400; ++r) {
    if (recipe.of_distance(r) != direction.of(r)) wrong.push_back(r);
  }
  return wrong;
}

TEST(t5_buckets, truth_tells_recipes_apart_to_the_distance) {
  using List = std::vector<std::int64_t>;
  for (const T5& t5 : {kBoth, kCausal}) {
    EXPECT_EQ(wrong_distances({t5}), List{});
    EXPECT_EQ(wrong_distances({t5, in_float}), List{});
    EXPECT_EQ(wrong_distances({t5,
                               [](double x) {
                                 return static_cast<double>(rounded_to(DType::f16, static_cast<float>(x)));
                               }}),
              List{});
  }
  EXPECT_EQ(wrong_distances({kBoth, in_brain}), (List{45, 90}));
  EXPECT_EQ(wrong_distances({kCausal, in_brain}), (List{76, 112}));
  // A float32 logarithm one ulp low, but for the divisor's.
  const auto low = [](double x) {
    return x == 16 ? in_float(std::log(x))
                   : static_cast<double>(std::nextafter(static_cast<float>(std::log(x)), -1.0F));
  };
  EXPECT_EQ(wrong_distances({kBoth, in_float, low}), (List{16, 32, 64}));
  const List rounded =
      wrong_distances({kBoth, [](double x) { return x; }, [](double x) { return std::log(x); },
                       [](double x) { return std::round(x); }});
  EXPECT_EQ((List{rounded.begin(), rounded.begin() + 5}), (List{10, 11, 14, 15, 20}));
}

TEST(t5_buckets, truth_of_adding_before_truncating) {
  // WavLM truncates the sum of the exact buckets and the logarithm's: in float32 that is right.
  const T5 wavlm{320, 800, true};
  const LogBuckets direction = log_buckets(wavlm);
  for (std::int64_t r = 80; r < 2000; ++r) {
    const float x = std::log(static_cast<float>(r) / 80.0F) / std::log(10.0F) * 80.0F;
    EXPECT_EQ(std::min<std::int64_t>(159, static_cast<std::int64_t>(80.0F + x)), direction.of(r)) << r;
  }
}

TEST(t5_buckets, teeth) {
  const Law law = t5_buckets();
  const auto caught = [&](const PairBucket& bucket, const T5& t5, const char* fault) {
    expect_caught(law, Operation::buckets, bucketed(bucket), {Encoding(t5)}, fault);
  };
  const auto plain = [](double x) { return x; };
  const auto ln = [](double x) { return std::log(x); };
  // The recipe itself is kept where it is right.
  EXPECT_EQ(run_trials(law, Operation::buckets, bucketed(Recipe{kBoth}), {Encoding(kBoth)}, 40).failed, 0);
  EXPECT_EQ(run_trials(law, Operation::buckets, bucketed(Recipe{kCausal, in_float}), {Encoding(kCausal)}, 40)
                .failed,
            0);
  caught(Recipe{kBoth, plain, ln, [](double x) { return std::round(x); }}, kBoth, "round for trunc");
  caught(Recipe{kBoth, plain, ln, [](double x) { return std::ceil(x); }}, kBoth, "ceil for trunc");
  caught(Recipe{kBoth, in_brain}, kBoth, "a logarithm in bfloat16");
  caught(Recipe{kBoth, in_float,
                [](double x) {
                  return static_cast<double>(std::nextafter(static_cast<float>(std::log(x)), -1.0F)) *
                         (x == 16 ? 1 + 0x1p-22 : 1);
                }},
         kBoth, "a logarithm one ulp low");
  caught(Recipe{{32, 129, true}}, kBoth, "max_distance off by one");
  caught(Recipe{{32, 127, false}}, kCausal, "max_distance off by one");
  caught(Recipe{{64, 128, true}}, kBoth, "buckets not halved");
  caught(Recipe{kCausal}, kBoth, "causal for bidirectional");
  caught(Recipe{kBoth}, kCausal, "bidirectional for causal");
  caught([](std::int64_t q, std::int64_t k) { return Recipe{kBoth}(k, q); }, kBoth,
         "the sign of the distance");
  caught([](std::int64_t q, std::int64_t k) { return Recipe{kBoth}(0, -std::abs(q - k)); }, kBoth,
         "no half for keys after");
  caught([](std::int64_t q, std::int64_t k) { return Recipe{kBoth}(q, k) + (q == k ? 16 : 0); }, kBoth,
         "the half at distance 0");
  caught([](std::int64_t q, std::int64_t k) { return Recipe{kBoth}(q, k) - (k > q ? 1 : 0); }, kBoth,
         "a half of 15");
  caught(
      [](std::int64_t q, std::int64_t k) {
        return std::min<std::int64_t>(Recipe{kBoth}(q, k), 31) + (q - k >= 128 ? 1 : 0);
      },
      kBoth, "the last bucket at 16");
  caught([](std::int64_t q, std::int64_t k) { return std::clamp<std::int64_t>(q - k, 0, 31); }, kCausal,
         "linear for large distances");
  caught([](std::int64_t q, std::int64_t k) { return Recipe{kBoth}(q % 512, k % 512); }, kBoth,
         "positions that wrap");
  caught(
      [](std::int64_t q, std::int64_t k) { return k >= q ? Recipe{kBoth}(q, k) : Recipe{kBoth}(q, k + 1); },
      kBoth, "a query's offset missing");
  // The same order in 16 bits: one bucket early where the sum rounds up.
  const auto added_first = [](std::int64_t q, std::int64_t k) {
    const std::int64_t r = std::abs(q - k);
    const auto x = static_cast<float>(std::log(static_cast<double>(r) / 80) / std::log(10.0) * 80);
    const std::int64_t b =
        r < 80 ? r
               : std::min<std::int64_t>(159, static_cast<std::int64_t>(rounded_to(DType::f16, 80.0F + x)));
    return b + (k > q ? 160 : 0);
  };
  caught(added_first, {320, 800, true}, "the sum rounded in 16 bits before it is truncated");
}

TEST(t5_buckets, teeth_of_the_table) {
  const Law law = t5_buckets();
  const auto gathering = [](const std::function<std::pair<std::int64_t, std::int64_t>(
                                std::int64_t bucket, std::int64_t head, const BiasCall&)>& at) {
    Kernel kernel = scalar_kernel();
    kernel.bias = [at](const BiasCall& call) {
      const auto& t5 = std::get<T5>(call.encoding);
      const LogBuckets direction = log_buckets(t5);
      for (std::int64_t h = 0; h < call.heads; ++h) {
        for (std::int64_t i = 0; i < call.bias.dim(1); ++i) {
          for (std::int64_t j = 0; j < call.bias.dim(2); ++j) {
            const std::int64_t b =
                bucket(t5, direction,
                       position_at(call.key_positions, 0, j) - position_at(call.query_positions, 0, i));
            const auto [row, column] = at(b, h, call);
            std::memcpy(call.bias.as<float>() + call.bias.offset(h, i, j),
                        call.table.as<const float>() + call.table.offset(row, column), 4);
          }
        }
      }
    };
    return kernel;
  };
  using Place = std::pair<std::int64_t, std::int64_t>;
  const auto right = gathering([](std::int64_t b, std::int64_t h, const BiasCall&) { return Place{b, h}; });
  EXPECT_EQ(run_trials(law, Operation::bias, right, {Encoding(kBoth)}).failed, 0);
  const auto caught = [&](const std::function<Place(std::int64_t, std::int64_t, const BiasCall&)>& at,
                          const char* fault) {
    expect_caught(law, Operation::bias, gathering(at), {Encoding(kBoth)}, fault);
  };
  caught(
      [](std::int64_t b, std::int64_t h, const BiasCall& call) {
        return Place{b, (h + 1) % call.heads};
      },
      "the next head");
  caught(
      [](std::int64_t b, std::int64_t h, const BiasCall&) {
        return Place{(b + 16) % 32, h};
      },
      "the halves exchanged");
  caught(
      [](std::int64_t b, std::int64_t h, const BiasCall& call) {
        const std::int64_t at = h * 32 + b;
        return Place{at / call.heads, at % call.heads};
      },
      "a table read as [heads, buckets]");
  Kernel scaled = scalar_kernel();
  scaled.bias = [kept = scaled.bias](const BiasCall& call) {
    kept(call);
    for (std::int64_t i = 0; i < call.bias.elements(); ++i) call.bias.as<float>()[i] *= 1 + 0x1p-20F;
  };
  expect_caught(law, Operation::bias, scaled, {Encoding(kBoth)}, "values changed");
}

}  // namespace
}  // namespace sextant
