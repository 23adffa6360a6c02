// What the tests of the laws on conduct share: who keeps them, and a textbook kernel that does one thing
// more.
#pragma once
#include "sextant/fixtures/layout.hpp"
#include "sextant/props/conduct.hpp"
#include "sextant/props/law_test.hpp"

namespace sextant {

/// An encoding of each scheme but RoPE.
[[nodiscard]] inline const Encodings& other_schemes() {
  static const Encodings all = {
      parse_encoding("sinusoidal(dim=18,layout=A)"),
      parse_encoding("sinusoidal(dim=16,layout=G,grid_columns=100000)"),
      parse_encoding("learned(rows=40,dim=7,offset=2)"),
      parse_encoding("shaw(left=4,right=2)"),
      parse_encoding("transformer_xl(dim=8,clamp=100)"),
      parse_encoding("transformer_xl(dim=8,form=conformer)"),
      parse_encoding("t5(buckets=32,max_distance=128,bidirectional=true)"),
      parse_encoding("deberta(buckets=256,max_position=512)"),
      parse_encoding("alibi(heads=5,form=last_key)"),
  };
  return all;
}

/// The textbook kernel keeps the law, and so does every other kernel of ours that can run here, with its
/// claim about bits and without.
inline void expect_conduct(const Law& law) {
  expect_kept(law);
  expect_kept(law, other_schemes());
  Encodings some = other_schemes();
  some.push_back(rope_of("rope(head_dim=24,dim=12,theta=500000,pairing=interleaved)"));
  some.push_back(rope_of("rope(dim=36,theta=10000)"));
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty()) continue;
    for (const Operation operation : law.operations) {
      if (!kernel.offers(operation)) continue;
      for (const char* claim : {"", "+bits"}) {
        const Trials trials = run_trials(law, operation, kernel, some, 6,
                                         parse_contract(kernel.capabilities.contract + claim), Dtypes::all);
        EXPECT_EQ(trials.failed, 0) << law.id << " on " << to_string(operation) << " of " << kernel.name;
        EXPECT_GT(trials.passed, 0) << law.id << " on " << to_string(operation) << " of " << kernel.name;
      }
    }
  }
}

/// The textbook kernel whose rotate, once done, does `more`.
[[nodiscard]] inline Kernel rotating_with(const std::function<void(const RotateCall&)>& more) {
  Kernel kernel = scalar_kernel();
  kernel.rotate = [right = kernel.rotate, more](const RotateCall& call) {
    right(call);
    more(call);
  };
  return kernel;
}
inline void expect_rotate_caught(const Law& law, const char* fault,
                                 const std::function<void(const RotateCall&)>& more) {
  expect_caught(law, Operation::rotate, rotating_with(more), law_encodings(), fault);
}

/// The first float of a row of an output.
[[nodiscard]] inline float* out_row(const Tensor& out, Layout layout, std::int64_t b, std::int64_t s,
                                    std::int64_t h) {
  return out.as<float>() + head_view(out, layout).offset(b, s, h);
}

}  // namespace sextant
