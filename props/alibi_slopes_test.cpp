#include <cmath>

#include "sextant/props/alibi_bounds.hpp"
#include "sextant/props/bias_law_test.hpp"

namespace sextant {
namespace {

Encodings of(std::initializer_list<const char*> texts) {
  Encodings all;
  for (const char* text : texts) all.push_back(parse_encoding(text));
  return all;
}

const Encodings kForms =
    of({"alibi(heads=1)", "alibi(heads=6)", "alibi(heads=8,form=symmetric)", "alibi(heads=12,bias_max=7.3)",
        "alibi(heads=16,form=key)", "alibi(heads=3,form=last_key)", "alibi(heads=12,form=falcon,head_dim=64)",
        "alibi(heads=7,form=falcon,head_dim=80)", "alibi(heads=12,form=sqrt)", "alibi(heads=8,form=sqrt)",
        "alibi(heads=2,bias_max=300)", "alibi(heads=40)"});

TEST(alibi_slopes, truth) {
  // The double-double bias against intervals of its definition, in every form.
  const WorkingDigits scope(60);
  const Contract contract = parse_contract("exact-angle");
  for (const Encoding& encoding : kForms) {
    const auto& alibi = std::get<Alibi>(encoding);
    const AlibiBounds bounds(contract, alibi);
    for (std::int64_t h = 0; h < alibi.heads; h += 3) {
      for (const std::int64_t n : {-4294967294L, -16777217L, -257L, -9L, -1L, 0L, 1L, 255L, 2147483647L}) {
        if (alibi.form == Alibi::Form::sqrt && n > 0) continue;
        const Wide got = bounds.bias(h, n);
        const Interval want = bias(alibi, slope<Interval>(alibi, h), n);
        const double size = std::fabs(got.value()) * 0x1p-98 + 0x1p-1000;
        EXPECT_LE(Mpfr(abs(Mpfr(Mpfr(got.hi) + got.lo) - Mpfr(lower(want)))).convert_to<double>(), size)
            << to_string(encoding) << " " << h << " " << n;
      }
    }
  }
}

TEST(alibi_slopes, kernel) {
  for (const std::int64_t heads : {1, 2, 3, 6, 8, 12, 16, 40, 52, 71, 112, 128})
    expect_kept_by_all(alibi_slopes(), Operation::bias, {Encoding(Alibi{heads, 8, Alibi::Form::relative, 0})},
                       12);
  expect_kept_by_all(alibi_slopes(), Operation::bias, kForms, 15);
}

/// Slopes correctly rounded, products in float32.
float nearest(const Alibi& alibi, std::int64_t head) {
  return static_cast<float>(nearest_slope(alibi, head, kFloat32));
}

TEST(alibi_slopes, bounds_are_kept_and_sharp) {
  struct Subject {
    const char* contract;
    std::function<float(const Alibi&, std::int64_t)> slope_of;
    bool exact = false;
  };
  const auto bloom = [](const Alibi& alibi, std::int64_t head) {
    return bloom_slopes<float>(alibi)[static_cast<std::size_t>(head)];
  };
  const auto ggml = [](const Alibi& alibi, std::int64_t head) {
    return ggml_slopes<float>(alibi)[static_cast<std::size_t>(head)];
  };
  const auto brain = [](const Alibi& alibi, std::int64_t head) {
    return rounded_to(DType::bf16, nearest(alibi, head));
  };
  for (const Subject& subject : {Subject{"exact-angle", nearest, true}, Subject{"f32-angle", bloom},
                                 Subject{"f32-running", ggml}, Subject{"bf16-table", brain}}) {
    for (const auto form : {Alibi::Form::relative, Alibi::Form::falcon, Alibi::Form::sqrt}) {
      double worst = 0;
      for (int step = 0; step < 400; ++step) {
        const Alibi alibi{1 + step % 3, 1 + step * 0x1p-9, form, form == Alibi::Form::falcon ? 80 : 0};
        const AlibiBounds bounds(parse_contract(subject.contract), alibi);
        for (std::int64_t h = 0; h < alibi.heads; ++h) {
          const float m = subject.slope_of(alibi, h);
          for (const std::int64_t n : {-3L, -129L, -1021L, -4097L, -16777219L}) {
            // Float32 rounds the last distance, which exact angles do not allow.
            if (subject.exact && n < -(1 << 24)) continue;
            const Wide want = bounds.bias(h, n);
            const double error = std::fabs((Wide(bias(alibi, m, n)) - want).value());
            const double bound = bounds(h, n, want);
            ASSERT_LE(error, bound) << subject.contract << " " << to_string(Encoding(alibi)) << " " << n;
            worst = std::max(worst, error / bound);
          }
        }
      }
      EXPECT_GT(worst, 0.25) << subject.contract << " " << static_cast<int>(form);
    }
  }
}

TEST(alibi_slopes, sixteen_bits_lose_whole_distances) {
  // Slope 0.5 at distances 256 and 257: bfloat16 has 128 for both.
  const Alibi alibi{8, 8, Alibi::Form::relative, 0};
  EXPECT_EQ(rounded_to(DType::bf16, bias(alibi, 0.5F, -256)), -128);
  EXPECT_EQ(rounded_to(DType::bf16, bias(alibi, 0.5F, -257)), -128);
  const auto rounding = [](DType dtype) {
    return biased([dtype](const Alibi& of, std::int64_t head, std::int64_t query, std::int64_t key,
                          const BiasCall& call) {
      const float m = bloom_slopes<float>(of)[static_cast<std::size_t>(head)];
      return rounded_to(dtype, bias(of, m, multiplier(of.form, query, key, last_of(call.key_positions))));
    });
  };
  const Law law = alibi_slopes();
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Kernel kernel = rounding(dtype);
    expect_caught(law, Operation::bias, kernel, {Encoding(alibi)}, "a bias of 16 bits in float32");
    // Asked for in that dtype, it is right.
    kernel.capabilities.inputs = {dtype};
    EXPECT_EQ(run_trials(law, Operation::bias, kernel, {Encoding(alibi)}).failed, 0);
  }
  // float16 overflows: 2^-1 times 2^18 is infinite, as it must be.
  Kernel half = rounding(DType::f16);
  half.capabilities.inputs = {DType::f16};
  const Trials trials = run_trials(law, Operation::bias, half, kForms, 60);
  EXPECT_EQ(trials.failed, 0);
  Kernel saturating = half;
  saturating.bias = [right = half.bias](const BiasCall& call) {
    right(call);
    for (std::int64_t i = 0; i < call.bias.elements(); ++i) {
      const float bias = read_element(call.bias, i);
      write_element(call.bias, i, std::fmin(std::fmax(bias, -65504.0F), 65504.0F));
    }
  };
  expect_caught(law, Operation::bias, saturating, kForms, "a float16 that saturates");
  // Arithmetic of 16 bits is judged by its own contract.
  const Kernel arithmetic = biased(
      [](const Alibi& of, std::int64_t head, std::int64_t query, std::int64_t key, const BiasCall& call) {
        const auto brain = [](float x) { return rounded_to(DType::bf16, x); };
        const std::int64_t n = multiplier(of.form, query, key, last_of(call.key_positions));
        return brain(brain(nearest(of, head)) * brain(static_cast<float>(n)));
      });
  const Encodings plain = of({"alibi(heads=12)", "alibi(heads=6,form=key)"});
  expect_caught(law, Operation::bias, arithmetic, plain, "arithmetic of 16 bits");
  EXPECT_EQ(run_trials(law, Operation::bias, arithmetic, plain, 20, parse_contract("bf16-arithmetic")).failed,
            0);
  const Kernel table =
      sloped([](const Alibi& of, std::int64_t head) { return rounded_to(DType::bf16, nearest(of, head)); });
  expect_caught(law, Operation::bias, table, of({"alibi(heads=12)"}), "slopes of 16 bits");
  EXPECT_EQ(run_trials(law, Operation::bias, table, plain, 20, parse_contract("bf16-table")).failed, 0);
}

TEST(alibi_slopes, teeth) {
  const Law law = alibi_slopes();
  const Encodings six = of({"alibi(heads=6)"}), eight = of({"alibi(heads=8)"}),
                  twelve = of({"alibi(heads=12)"}), many = of({"alibi(heads=6)", "alibi(heads=12)"});
  const auto power = [](double exponent) { return static_cast<float>(std::exp2(-exponent)); };
  const auto of_heads = [](std::int64_t heads, double bias_max, std::int64_t head) {
    return nearest({heads, bias_max, Alibi::Form::relative, 0}, head);
  };
  const auto caught = [&](const std::function<float(const Alibi&, std::int64_t)>& slope_of,
                          const Encodings& encodings, const char* fault) {
    expect_caught(law, Operation::bias, sloped(slope_of), encodings, fault);
  };
  caught([&](const Alibi& a,
             std::int64_t h) { return power(8 * static_cast<double>(h + 1) / static_cast<double>(a.heads)); },
         many, "the paper's sentence for any number of heads: slopes in one row");
  caught([&](const Alibi& a,
             std::int64_t h) { return power(8 * static_cast<double>(h) / static_cast<double>(a.heads)); },
         eight, "exponents from 0");
  caught([&](const Alibi& a,
             std::int64_t h) { return of_heads(2 * slope_exponent(a.heads, 0).denominator, 8, h); },
         many, "slopes of the next power of two");
  caught(
      [&](const Alibi& a, std::int64_t h) {
        std::vector<float> sorted;
        for (std::int64_t k = 0; k < a.heads; ++k) sorted.push_back(nearest(a, k));
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        return sorted[static_cast<std::size_t>(h)];
      },
      many, "slopes in falling order");
  caught([&](const Alibi& a, std::int64_t h) { return nearest(a, (h + 1) % a.heads); }, eight,
         "the next head's slope");
  caught([&](const Alibi& a, std::int64_t h) { return nearest(a, h / 4); }, eight, "a slope of the key head");
  caught([&](const Alibi& a, std::int64_t h) { return of_heads(a.heads, 8, h); },
         of({"alibi(heads=8,bias_max=4)"}), "bias_max ignored");
  caught([&](const Alibi& a, std::int64_t h) { return of_heads(a.heads, 2 * a.bias_max, h); }, eight,
         "bias_max doubled");
  caught([&](const Alibi& a, std::int64_t h) { return h < 4 ? nearest(a, h) : 0; }, eight,
         "fewer heads with a slope than heads");
  caught([&](const Alibi& a, std::int64_t h) { return -nearest(a, h); }, eight, "the sign");
  caught(
      [&](const Alibi& a, std::int64_t h) {
        const auto [j, c] = slope_exponent(a.heads, h);
        return std::pow(rounded_to(DType::bf16, power(8.0 / static_cast<double>(c))), static_cast<float>(j));
      },
      twelve, "a base of 16 bits");
  caught([&](const Alibi& a,
             std::int64_t h) { return std::nextafter(std::nextafter(nearest(a, h), 1.0F), 1.0F); },
         eight, "two ulp where slopes are exact");

  const auto pairwise = [&](const auto& factor, const Encodings& encodings, const char* fault) {
    expect_caught(law, Operation::bias,
                  biased([factor](const Alibi& a, std::int64_t h, std::int64_t query, std::int64_t key,
                                  const BiasCall& call) {
                    return nearest(a, h) * static_cast<float>(factor(query, key, call));
                  }),
                  encodings, fault);
  };
  pairwise([](std::int64_t, std::int64_t key, const BiasCall&) { return key; }, eight, "anchored at 0");
  pairwise([](std::int64_t q, std::int64_t k,
              const BiasCall& call) { return k - q + last_of(call.key_positions); },
           eight, "a row constant");
  pairwise([](std::int64_t q, std::int64_t k, const BiasCall&) { return k - q; },
           of({"alibi(heads=8,form=symmetric)"}), "not folded");
  pairwise([](std::int64_t, std::int64_t k,
              const BiasCall& call) { return k - position_at(call.key_positions, 0, 0); },
           of({"alibi(heads=8,form=last_key)"}), "anchored at the first key");
  pairwise([](std::int64_t, std::int64_t k, const BiasCall&) { return k; },
           of({"alibi(heads=8,form=falcon,head_dim=64)"}), "not divided by sqrt(head_dim)");
  pairwise([](std::int64_t q, std::int64_t k, const BiasCall&) { return k - q; },
           of({"alibi(heads=8,form=sqrt)"}), "no root");
  pairwise([](std::int64_t q, std::int64_t k, const BiasCall&) { return -std::abs(q - k); }, eight,
           "keys after the query folded");
  pairwise(
      [](std::int64_t q, std::int64_t k, const BiasCall&) {
        return rounded_to(DType::bf16, static_cast<float>(k)) -
               rounded_to(DType::bf16, static_cast<float>(q));
      },
      eight, "positions of 16 bits");
}

}  // namespace
}  // namespace sextant
