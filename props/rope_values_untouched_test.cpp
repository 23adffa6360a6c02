#include <cstring>

#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

TEST(rope_values_untouched, truth) {
  // Attention that depends on relative positions only needs v as it is: shifting all positions keeps the
  // output, and would not if v were rotated too.
  const WorkingDigits scope(50);
  for (Rope rope : law_encodings()) {
    rope.head_dim = rope.dim;
    const Frequencies<Interval> f = frequencies<Interval>(rope, 100);
    Rows<Interval> x;
    for (std::int64_t s = 0; s < 3; ++s) {
      x.emplace_back();
      for (std::int64_t i = 0; i < rope.dim; ++i) x.back().push_back(Interval((i * (s + 2)) % 7 - 3) / 8);
    }
    const auto rotated = [&](std::int64_t shift) {
      Rows<Interval> y;
      for (std::int64_t s = 0; s < 3; ++s)
        y.push_back(rotate(rope, f, s + shift, x[static_cast<std::size_t>(s)]));
      return y;
    };
    const auto output = [&](std::int64_t shift, const Rows<Interval>& v) {
      return attention(rotated(shift), rotated(shift), v, Interval(1), false)[1][0];
    };
    EXPECT_TRUE(meet(output(0, x), output(40, x)));
    EXPECT_FALSE(meet(output(0, rotated(0)), output(40, rotated(40))));
  }
}

TEST(rope_values_untouched, kernel) { expect_kept(rope_values_untouched()); }

TEST(rope_values_untouched, teeth) {
  const Law law = rope_values_untouched();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto with_values = [](const std::function<void(const Kernel&, const RotateCall&)>& after) {
    Kernel kernel = scalar_kernel();
    kernel.rotate = [right = kernel, after](const RotateCall& call) {
      right.rotate(call);
      after(right, call);
    };
    return kernel;
  };
  const auto caught = [&](const std::function<void(const Kernel&, const RotateCall&)>& after,
                          const char* fault) {
    expect_caught(law, Operation::rotate, with_values(after), plain, fault);
  };
  caught(
      [](const Kernel& right, const RotateCall& call) {
        right.rotate({call.encoding,
                      call.seq_len,
                      call.layout,
                      call.positions,
                      call.v,
                      {},
                      {},
                      call.v_out,
                      {},
                      {},
                      {},
                      0});
      },
      "v rotated");
  caught(
      [](const Kernel&, const RotateCall& call) {
        for (std::int64_t i = 0; i < call.v_out.elements(); ++i) call.v_out.as<float>()[i] = NAN;
      },
      "v left unwritten");
  caught(
      [](const Kernel&, const RotateCall& call) {
        std::memcpy(call.v_out.data, call.k_out.data,
                    static_cast<std::size_t>(call.v_out.elements()) * sizeof(float));
      },
      "k given back as v");
  caught(
      [](const Kernel&, const RotateCall& call) {
        for (std::int64_t i = 0; i < call.v_out.elements(); ++i) call.v_out.as<float>()[i] += 0.0F;
      },
      "v through an addition of 0");
}

}  // namespace
}  // namespace sextant
