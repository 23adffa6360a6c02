#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(shapes, kernel) { expect_conduct(shapes()); }

TEST(shapes, teeth) {
  const Law law = shapes();
  expect_rotate_caught(law, "an odd last token left as it was", [](const RotateCall& call) {
    const HeadView view = head_view(call.q_out, call.layout);
    if (view.tokens % 2 == 0 || view.batch * view.heads == 0) return;
    *out_row(call.q_out, call.layout, 0, view.tokens - 1, 0) =
        *out_row(call.q, call.layout, 0, view.tokens - 1, 0);
  });
  expect_rotate_caught(law, "one head rounded differently from several", [](const RotateCall& call) {
    const HeadView view = head_view(call.k_out, call.layout);
    if (view.heads != 1 || view.batch * view.tokens == 0) return;
    float& first = *out_row(call.k_out, call.layout, 0, 0, 0);
    first = std::nextafter(first, 10.0F);
  });
  expect_rotate_caught(law, "no token taken for one", [](const RotateCall& call) {
    if (call.positions.dim(0) == 0) call.q_out.as<float>()[0] = 0;
  });
  Kernel faulty = scalar_kernel();
  faulty.tables = [right = faulty.tables](const TablesCall& call) {
    right(call);
    if (call.positions.dim(0) == 1) call.cos.as<float>()[0] += 0.125F;
  };
  expect_caught(law, Operation::tables, faulty, law_encodings(), "one row differs from several");

  faulty.encode = [right = faulty.encode](const EncodeCall& call) {
    right(call);
    if (call.positions.dim(0) == 1) call.rows.as<float>()[0] += 0.125F;
  };
  expect_caught(law, Operation::encode, faulty, other_schemes(), "one row differs from several");
  faulty.bias = [right = faulty.bias](const BiasCall& call) {
    right(call);
    const std::int64_t keys = call.key_positions.dim(0);
    if (keys % 2 == 1 && call.query_positions.dim(0) > 0) call.bias.as<float>()[keys - 1] += 1;
  };
  expect_caught(law, Operation::bias, faulty, other_schemes(), "an odd last key rounded differently");
  faulty.buckets = [right = faulty.buckets](const BucketsCall& call) {
    right(call);
    if (call.query_positions.dim(0) == 1) ++call.buckets.as<std::int32_t>()[0];
  };
  expect_caught(law, Operation::buckets, faulty, other_schemes(), "one query differs from several");

  // Refusing empty calls is allowed.
  Kernel careful = scalar_kernel();
  careful.rotate = [right = careful.rotate](const RotateCall& call) {
    if (call.q.elements() == 0) throw Refused("nothing to rotate");
    right(call);
  };
  const Trials trials = run_trials(law, Operation::rotate, careful, law_encodings(), 5);
  EXPECT_EQ(trials.failed, 0);
  EXPECT_GT(trials.passed, 10);
}

}  // namespace
}  // namespace sextant
