#include "sextant/props/law_test.hpp"
#include "sextant/reference/number.hpp"

namespace sextant {
namespace {

TEST(rope_backward_adjoint, truth_the_adjoint_of_a_rotation_is_the_rotation_back) {
  const WorkingDigits digits(60);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 8192);
    for (const std::int64_t m : {0, 1, 77, 4099}) {
      for (std::size_t i = 0; i < f.inv_freq.size(); ++i) {
        const Interval angle = Interval(m) * f.inv_freq[i];
        const Interval c = f.attention_factor * cos(angle);
        const Interval s = Interval(static_cast<int>(rope.direction)) * f.attention_factor * sin(angle);
        const Interval x_a(3), x_b(-5), g_a(7), g_b(2);
        const Pair<Interval> y = rotate_pair(x_a, x_b, c, s);
        const Pair<Interval> z = rotate_pair(g_a, g_b, c, Interval(-s));
        EXPECT_TRUE(meet(y.a * g_a + y.b * g_b, x_a * z.a + x_b * z.b, 100));
      }
    }
  }
}

TEST(rope_backward_adjoint, kernel_keeps_it) {
  expect_kept(rope_backward_adjoint());
  for (const Kernel& kernel : scalar_kernels()) {
    if (!kernel.offers(Operation::rotate_backward)) continue;
    EXPECT_EQ(
        run_trials(rope_backward_adjoint(), Operation::rotate_backward, kernel, law_encodings(), 10).failed,
        0)
        << kernel.name;
  }
}

TEST(rope_backward_adjoint, teeth_a_gradient_that_turns_forward_and_one_by_another_base) {
  const Law law = rope_backward_adjoint();
  Kernel forward = scalar_kernel();
  forward.rotate_backward = forward.rotate;
  expect_caught(law, Operation::rotate_backward, forward, {rope_of("rope(dim=16,theta=10000)")},
                "a gradient rotated the same way as the input");
  Kernel based = scalar_kernel();
  const Kernel right = based;
  based.rotate_backward = [right](const RotateCall& call) {
    Rope rope = std::get<Rope>(call.encoding);
    rope.theta = 10000;
    const Encoding encoding = rope;
    right.rotate_backward({encoding, call.seq_len, call.layout, call.positions, call.q, call.k, call.v,
                           call.q_out, call.k_out, call.v_out, call.cu_seqlens, call.layer});
  };
  expect_caught(law, Operation::rotate_backward, based, {rope_of("rope(dim=16,theta=500000)")},
                "a gradient by the default base");
}

}  // namespace
}  // namespace sextant
