// What the tests of laws on biases and buckets share: every own kernel, and faulty ones pair by pair.
#pragma once
#include "sextant/fixtures/element.hpp"
#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/alibi.hpp"

namespace sextant {

/// The law speaks, and every own kernel that runs here keeps it in every dtype.
inline void expect_kept_by_all(const Law& law, Operation operation, const Encodings& encodings, int cases) {
  int kernels = 0;
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(operation)) continue;
    ++kernels;
    const Trials trials = run_trials(law, operation, kernel, encodings, cases, std::nullopt, Dtypes::all);
    EXPECT_EQ(trials.failed, 0) << kernel.name << ": " << law.id << " on " << to_string(operation)
                                << ", share " << trials.measure.share();
    EXPECT_GT(trials.passed, 10) << kernel.name;
  }
  EXPECT_GE(kernels, 4);  // scalar, one of simd, two of cuda-host
}

/// The textbook kernel with biases of another making; rounded to the call's dtype.
using PairBias = std::function<float(const Alibi& alibi, std::int64_t head, std::int64_t query,
                                     std::int64_t key, const BiasCall& call)>;
[[nodiscard]] inline Kernel biased(const PairBias& pair_bias) {
  Kernel kernel = scalar_kernel();
  kernel.bias = [pair_bias](const BiasCall& call) {
    for (std::int64_t h = 0; h < call.bias.dim(0); ++h) {
      for (std::int64_t i = 0; i < call.bias.dim(1); ++i) {
        for (std::int64_t j = 0; j < call.bias.dim(2); ++j)
          write_element(call.bias, call.bias.offset(h, i, j),
                        pair_bias(std::get<Alibi>(call.encoding), h, position_at(call.query_positions, 0, i),
                                  position_at(call.key_positions, 0, j), call));
      }
    }
  };
  return kernel;
}
[[nodiscard]] inline std::int64_t last_of(const Tensor& positions) {
  return position_at(positions, 0, positions.dim(0) - 1);
}
/// The textbook's biases by other slopes.
[[nodiscard]] inline Kernel sloped(const std::function<float(const Alibi&, std::int64_t head)>& slope_of) {
  return biased([slope_of](const Alibi& alibi, std::int64_t head, std::int64_t query, std::int64_t key,
                           const BiasCall& call) {
    return bias(alibi, slope_of(alibi, head),
                multiplier(alibi.form, query, key, last_of(call.key_positions)));
  });
}

/// The textbook kernel with buckets of another making.
using PairBucket = std::function<std::int64_t(std::int64_t query, std::int64_t key)>;
[[nodiscard]] inline Kernel bucketed(const PairBucket& bucket) {
  Kernel kernel = scalar_kernel();
  kernel.buckets = [bucket](const BucketsCall& call) {
    for (std::int64_t i = 0; i < call.buckets.dim(0); ++i) {
      for (std::int64_t j = 0; j < call.buckets.dim(1); ++j)
        call.buckets.as<std::int32_t>()[call.buckets.offset(i, j)] = static_cast<std::int32_t>(
            bucket(position_at(call.query_positions, 0, i), position_at(call.key_positions, 0, j)));
    }
  };
  return kernel;
}

}  // namespace sextant
