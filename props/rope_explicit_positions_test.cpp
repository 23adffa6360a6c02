#include <algorithm>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(rope_explicit_positions, truth) {
  // Past 2^24 each position has a row of its own, one step from its neighbour's, though float32 cannot tell
  // the two positions apart.
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 70000);
    const TableRow<Interval> there = table_row(f, (1 << 24) + 1, TableForm::half);
    const TableRow<Interval> before = table_row(f, 1 << 24, TableForm::half);
    const TableRow<Interval> step = table_row(f, 1, TableForm::half);
    EXPECT_FALSE(meet(there.cos[0], before.cos[0]));
    for (std::size_t i = 0; i < there.cos.size(); ++i)
      EXPECT_TRUE(
          meet(f.attention_factor * there.cos[i], before.cos[i] * step.cos[i] - before.sin[i] * step.sin[i]));
  }
}

TEST(rope_explicit_positions, kernel) {
  expect_kept(rope_explicit_positions());
  EXPECT_EQ(run_trials(rope_explicit_positions(), Operation::rotate, scalar_kernel(), law_encodings(), 20,
                       parse_contract("f32-angle"))
                .failed,
            0);
}

/// The textbook kernel at the positions that `place` makes of those of a call, [batch, tokens].
Kernel placing(const std::function<void(std::vector<std::int64_t>&, std::int64_t tokens)>& place) {
  Kernel kernel = scalar_kernel();
  kernel.capabilities.layouts = {Layout::bshd};
  kernel.rotate = [right = kernel.rotate, place](const RotateCall& call) {
    const std::int64_t batch = call.q.dim(0), tokens = call.q.dim(1);
    std::vector<std::int64_t> positions;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t s = 0; s < tokens; ++s) positions.push_back(position_at(call.positions, b, s));
    }
    place(positions, tokens);
    RotateCall other{
        call.encoding, call.seq_len, call.layout,     dense(positions.data(), DType::i64, batch, tokens),
        call.q,        call.k,       call.v,          call.q_out,
        call.k_out,    call.v_out,   call.cu_seqlens, call.layer};
    right(other);
  };
  return kernel;
}

TEST(rope_explicit_positions, teeth) {
  const Law law = rope_explicit_positions();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  using Positions = std::vector<std::int64_t>;
  const auto caught = [&](const std::function<void(Positions&, std::int64_t)>& place, const char* fault) {
    expect_caught(law, Operation::rotate, placing(place), plain, fault);
    // Not a matter of bits.
    EXPECT_GT(
        run_trials(law, Operation::rotate, placing(place), plain, 20, parse_contract("exact-angle")).failed,
        0)
        << fault;
  };
  caught(
      [](Positions& p, std::int64_t tokens) {
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = p[0] + static_cast<std::int64_t>(i) % tokens;
      },
      "positions taken as consecutive");
  caught([](Positions& p, std::int64_t) { std::sort(p.begin(), p.end()); }, "positions sorted");
  caught(
      [](Positions& p, std::int64_t tokens) {
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = p[i % static_cast<std::size_t>(tokens)];
      },
      "the first batch's positions for all");
  caught(
      [](Positions& p, std::int64_t) {
        for (std::size_t i = 1; i < p.size(); ++i) p[i] = std::max(p[i], p[i - 1]);
      },
      "no restart");
  // Beyond 2^24: blocks of 64 from the second token on.
  const Kernel rounded = placing([](Positions& p, std::int64_t) {
    for (std::size_t i = 1; i < p.size(); ++i) {
      if (p[i] > 1 << 24) p[i] = p[i] / 64 * 64;
    }
  });
  Case c;
  c.encoding = plain[0];
  c.head_dim = 16;
  c.positions = {(1 << 24) + 30, 5, (1 << 24) + 40};
  c.seq_len = (1 << 24) + 41;
  c.mode = InputMode::ones;
  Truths truths;
  EXPECT_EQ(run_trial(law, {c, Operation::rotate, rounded, parse_contract("exact-angle"), truths}).verdict,
            Verdict::fail);
  // Blind to a map that all calls share.
  const Kernel next = placing([](Positions& p, std::int64_t) {
    for (std::int64_t& position : p) ++position;
  });
  EXPECT_EQ(run_trials(law, Operation::rotate, next, plain).failed, 0);
}

}  // namespace
}  // namespace sextant
