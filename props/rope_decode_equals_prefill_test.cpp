#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

/// The textbook kernel with its steps changed before they run.
Kernel with_steps(const std::function<void(std::size_t, SequenceStep&)>& change) {
  Kernel kernel = scalar_kernel();
  const Kernel right = kernel;
  kernel.sequence = [=](const SequenceCall& call) {
    for (std::size_t i = 0; i < call.steps.size(); ++i) {
      SequenceStep step = call.steps[i];
      change(i, step);
      right.sequence({{step}});
    }
  };
  return kernel;
}

TEST(rope_decode_equals_prefill, kernel_keeps_it) { expect_kept(rope_decode_equals_prefill()); }

TEST(rope_decode_equals_prefill, kernel_keeps_it_where_bits_are_not_claimed) {
  Kernel kernel = scalar_kernel();
  kernel.capabilities.bits_exact = false;
  EXPECT_EQ(run_trials(rope_decode_equals_prefill(), Operation::sequence, kernel, law_encodings(), 10).failed,
            0);
}

TEST(rope_decode_equals_prefill, a_key_that_depends_on_the_current_length_is_reported) {
  Truths truths;
  const Law law = rope_decode_equals_prefill();
  const Kernel kernel = scalar_kernel();
  const Rope rope = rope_of("rope(dim=16,theta=10000,scaling=dynamic(factor=2,max_position=2048))");
  const Case c = draw_case(*law.space(rope, 4096, 0), 1, 0);
  const Contract contract = claimed_contract(kernel);
  const Outcome outcome = run_trial(law, {c, Operation::sequence, kernel, contract, truths});
  EXPECT_EQ(outcome.verdict, Verdict::pass);
  EXPECT_NE(outcome.reason.find("depend on the current length"), std::string::npos);
}

TEST(rope_decode_equals_prefill, teeth) {
  const Law law = rope_decode_equals_prefill();
  const std::vector<Rope> encodings = {rope_of("rope(dim=16,theta=10000)")};
  expect_caught(law, Operation::sequence, with_steps([](std::size_t i, SequenceStep& step) {
                  if (i > 0) step.past_length = 0;
                  step.key_cache = {};
                }),
                encodings, "a decode step at its own index");
  expect_caught(law, Operation::sequence, with_steps([](std::size_t i, SequenceStep& step) {
                  if (i > 0 && step.rotate.q.dim(1) == 1 && !step.key_cache) ++step.past_length;
                }),
                encodings, "single tokens one position late");
  Kernel rewriting = scalar_kernel();
  const Kernel right = rewriting;
  rewriting.sequence = [right](const SequenceCall& call) {
    right.sequence(call);
    const SequenceStep& last = call.steps.back();
    if (last.key_cache && last.past_length > 0 && call.steps.size() > 1)
      last.key_cache.as<float>()[last.key_cache.offset(0, last.past_length - 1)] += 1;
  };
  expect_caught(law, Operation::sequence, rewriting, encodings, "a cached key that changes");
  // A length that changes keys: the kernel takes the current length for the scheme's, where it must not
  // matter.
  Kernel lengthy = scalar_kernel();
  lengthy.sequence = [right](const SequenceCall& call) {
    for (const SequenceStep& step : call.steps) {
      Rope rope = std::get<Rope>(step.rotate.encoding);
      rope.theta *= static_cast<double>(step.rotate.seq_len);
      const Encoding encoding = rope;
      const RotateCall& r = step.rotate;
      right.sequence({{{step.past_length,
                        step.operation,
                        {encoding, r.seq_len, r.layout, {}, r.q, r.k, {}, r.q_out, r.k_out, {}, {}, 0},
                        step.key_cache}}});
    }
  };
  expect_caught(law, Operation::sequence, lengthy, encodings, "keys that depend on the current length");
}

}  // namespace
}  // namespace sextant
