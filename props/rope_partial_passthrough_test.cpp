#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(rope_partial_passthrough, truth) {
  // The definition copies the tail, whatever A is.
  const WorkingDigits scope(50);
  for (Rope rope : law_encodings()) {
    rope.head_dim = rope.dim + 6;
    const Frequencies<Interval> f = frequencies<Interval>(rope, 5000);
    std::vector<Interval> x;
    for (std::int64_t i = 0; i < rope.head_dim; ++i) x.push_back(Interval(i + 1) / 3);
    const std::vector<Interval> y = rotate(rope, f, 4999, x);
    for (std::int64_t i = rope.dim; i < rope.head_dim; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_TRUE(lower(y[at]) == lower(x[at]) && upper(y[at]) == upper(x[at]));
    }
  }
}

TEST(rope_partial_passthrough, kernel) { expect_kept(rope_partial_passthrough()); }

TEST(rope_partial_passthrough, teeth) {
  const Law law = rope_partial_passthrough();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)"),
                                   rope_of("rope(head_dim=24,dim=12,theta=500000,pairing=interleaved)")};
  const auto with_tail = [](const std::function<float(float)>& change) {
    Kernel kernel = scalar_kernel();
    kernel.rotate = [right = kernel.rotate, change](const RotateCall& call) {
      right(call);
      const auto& rope = std::get<Rope>(call.encoding);
      for (std::int64_t i = 0; i < call.k_out.elements(); ++i) {
        float& y = call.k_out.as<float>()[i];
        if (i % rope.head_dim >= rope.dim) y = change(y);
      }
    };
    return kernel;
  };
  const auto caught = [&](const std::function<float(float)>& change, const char* fault) {
    expect_caught(law, Operation::rotate, with_tail(change), plain, fault);
  };
  caught([](float x) { return x + 0.0F; }, "-0 and signalling NaN through an addition");
  caught([](float x) { return std::isnan(x) ? NAN : x; }, "payloads lost");
  caught([](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0F : x; }, "subnormals flushed");
  caught([](float) { return 0.0F; }, "the tail left zero");
  expect_caught(law, Operation::rotate, misreading([](Rope r) {
                  r.dim = r.head_dim;
                  return r;
                }),
                plain, "rotary width from head_dim");
  // Blind to the rotated channels.
  EXPECT_EQ(run_trials(law, Operation::rotate, misreading([](Rope r) {
                         r.theta = 77;
                         return r;
                       }),
                       plain)
                .failed,
            0);
}

}  // namespace
}  // namespace sextant
