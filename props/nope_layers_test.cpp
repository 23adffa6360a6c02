#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

const Encodings kNope = {Nope{}};

// No encoding is the rotation by 0 at every position, on numbers: RoPE with frequencies 0.
TEST(nope_layers, truth) {
  const WorkingDigits scope(40);
  const Rope rope = rope_of("rope(dim=4,theta=10000)");
  const Frequencies<Interval> still{{Interval(0), Interval(0)}, Interval(1)};
  const std::vector<Interval> x = {Interval(3), Interval(-1), Interval(2) / 7, Interval(5)};
  for (const std::int64_t position : {0, 17, -5}) {
    const std::vector<Interval> y = rotate(rope, still, position, x);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(meet(x[i], y[i]));
  }
}

TEST(nope_layers, kernel) {
  expect_kept(nope_layers(), kNope);
  for (const Kernel& kernel : own_kernels()) {
    const std::vector<std::string>& schemes = kernel.capabilities.schemes;
    if (!kernel.unavailable.empty() || std::find(schemes.begin(), schemes.end(), "nope") == schemes.end())
      continue;
    for (const Operation operation : nope_layers().operations) {
      const Trials trials =
          run_trials(nope_layers(), operation, kernel, kNope, 30, std::nullopt, Dtypes::all);
      EXPECT_EQ(trials.failed, 0) << kernel.name;
      EXPECT_GT(trials.measure.elements, 1000) << kernel.name;
    }
  }
}

TEST(nope_layers, teeth) {
  const Kernel right = scalar_kernel();
  const auto caught = [&](const std::function<void(const RotateCall&)>& rotate, const char* fault) {
    Kernel faulty = right;
    faulty.rotate = faulty.rotate_backward = rotate;
    for (const Operation operation : nope_layers().operations)
      expect_caught(nope_layers(), operation, faulty, kNope, fault);
  };
  caught(
      [&](const RotateCall& call) {
        Rope rope;
        rope.head_dim = rope.dim = head_view(call.q, call.layout).channels;
        const Encoding rotary = rope;
        right.rotate({rotary, call.seq_len, call.layout, call.positions, call.q, call.k, call.v, call.q_out,
                      call.k_out, call.v_out, call.cu_seqlens, call.layer});
      },
      "rotated all the same");
  caught(
      [&](const RotateCall& call) {
        right.rotate(call);
        for (std::int64_t i = 0; i < call.k_out.elements(); ++i) {
          float& y = call.k_out.as<float>()[i];
          if (std::isnan(y)) y = NAN;
        }
      },
      "a NaN that loses its payload");
  caught(
      [&](const RotateCall& call) {
        right.rotate(call);
        for (std::int64_t i = 0; i < call.q_out.elements(); ++i) call.q_out.as<float>()[i] += 0.0F;
      },
      "an addition of 0, which changes -0");
  caught(
      [&](const RotateCall& call) {
        RotateCall half = call;
        half.k = half.k_out = {};
        right.rotate(half);
      },
      "k left unwritten");
}

}  // namespace
}  // namespace sextant
