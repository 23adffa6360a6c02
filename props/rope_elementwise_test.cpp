#include "sextant/props/law_test.hpp"

namespace sextant {
namespace {

TEST(rope_elementwise, truth) {
  // The exact rotation keeps the pair norm times A, and position 0 is A times the identity.
  const WorkingDigits scope(50);
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Interval> f = frequencies<Interval>(rope, 100);
    std::vector<Interval> x;
    for (std::int64_t i = 0; i < rope.head_dim; ++i) x.push_back(Interval(3 * i - 7));
    const std::vector<Interval> y = rotate(rope, f, 99, x);
    const std::vector<Interval> still = rotate(rope, f, 0, x);
    for (std::int64_t i = 0; i < rope.pairs(); ++i) {
      const PairChannels at = pair_channels(rope.pairing, rope.dim, i);
      const auto in = [&](std::int64_t c) { return x[static_cast<std::size_t>(c)]; };
      const auto out = [&](std::int64_t c) { return y[static_cast<std::size_t>(c)]; };
      const Interval square = f.attention_factor * f.attention_factor;
      EXPECT_TRUE(meet(out(at.out_a) * out(at.out_a) + out(at.out_b) * out(at.out_b),
                       square * (in(at.in_a) * in(at.in_a) + in(at.in_b) * in(at.in_b)), 1e6));
      EXPECT_TRUE(meet(still[static_cast<std::size_t>(at.out_a)], f.attention_factor * in(at.in_a), 1e3));
    }
  }
}

TEST(rope_elementwise, kernel) { expect_kept(rope_elementwise()); }

TEST(rope_elementwise, teeth) {
  const Law law = rope_elementwise();
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)"),
                                   rope_of("rope(head_dim=24,dim=12,theta=500000,pairing=interleaved)")};
  const std::vector<Rope> yarn = {rope_of("rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096))")};
  const auto caught = [&](const std::function<Rope(Rope)>& misread, const std::vector<Rope>& encodings,
                          const char* fault) {
    expect_caught(law, Operation::rotate, misreading(misread), encodings, fault);
  };
  caught(
      [](Rope r) {
        r.pairing = r.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
        return r;
      },
      plain, "half and interleaved swapped");
  caught(
      [](Rope r) {
        r.direction = -r.direction;
        return r;
      },
      plain, "rotation by the negative angle");
  caught(
      [](Rope r) {
        r.theta *= 1.001;
        return r;
      },
      plain, "theta off by 1e-3");
  caught(
      [](Rope r) {
        r.dim = r.head_dim;
        return r;
      },
      {plain[1]}, "rotary width from head_dim");
  caught(
      [](Rope r) {
        r.scaling = scaling::None{};
        return r;
      },
      yarn, "scaling left out");
  caught(
      [](Rope r) {
        auto& y = std::get<scaling::Yarn>(r.scaling);
        y.attention_factor = 1;
        return r;
      },
      yarn, "attention factor left out");
  expect_caught(law, Operation::tables, misreading([](Rope r) {
                  r.theta *= 1.001;
                  return r;
                }),
                plain, "theta off by 1e-3, in the tables");
  const auto next = [](std::int64_t p) { return p + 1; };
  expect_caught(law, Operation::rotate, misplacing(next, next), plain, "position off by one");

  Kernel tail = scalar_kernel();
  tail.rotate = [right = tail.rotate](const RotateCall& call) {
    right(call);
    const auto& rope = std::get<Rope>(call.encoding);
    if (rope.head_dim > rope.dim) call.q_out.as<float>()[rope.head_dim - 1] += 1;
  };
  expect_caught(law, Operation::rotate, tail, {plain[1]}, "a changed passthrough channel");

  Kernel nan = scalar_kernel();
  nan.tables = [right = nan.tables](const TablesCall& call) {
    right(call);
    call.cos.as<float>()[0] = NAN;
  };
  expect_caught(law, Operation::tables, nan, plain, "NaN in a table");
}

TEST(rope_elementwise, a_kernel_that_writes_where_it_must_not_fails) {
  const std::vector<Rope> plain = {rope_of("rope(dim=16,theta=10000)")};
  const auto spoilt = [](const std::function<void(const RotateCall&)>& before,
                         const std::function<void(const RotateCall&)>& after) {
    Kernel kernel = scalar_kernel();
    kernel.rotate = [right = kernel.rotate, before, after](const RotateCall& call) {
      if (before) before(call);
      right(call);
      if (after) after(call);
    };
    return kernel;
  };
  const Law law = rope_elementwise();
  expect_caught(law, Operation::rotate, spoilt([](const RotateCall& c) { c.q.as<float>()[0] = 0.5F; }, {}),
                plain, "input changed before it is read");
  expect_caught(law, Operation::rotate, spoilt({}, [](const RotateCall& c) { c.k.as<float>()[0] += 1; }),
                plain, "input changed after it is read");
  expect_caught(law, Operation::rotate,
                spoilt({}, [](const RotateCall& c) { c.q_out.as<float>()[c.q_out.elements()] = 0; }), plain,
                "one element past the end");
  expect_caught(law, Operation::rotate, spoilt({}, [](const RotateCall& c) { c.k_out.as<float>()[-1] = 0; }),
                plain, "one element before the start");
  expect_caught(law, Operation::rotate,
                spoilt([](const RotateCall& c) { c.positions.as<std::int64_t>()[0] += 1; }, {}), plain,
                "positions changed");
  Kernel table = scalar_kernel();
  table.tables = [right = table.tables](const TablesCall& call) {
    right(call);
    call.sin.as<float>()[call.sin.elements()] = 0;
  };
  expect_caught(law, Operation::tables, table, plain, "one element past a table");
}

TEST(rope_elementwise, one_ulp_beyond_the_bound_is_caught_and_within_it_is_not) {
  // At position 0 the textbook entry is exactly 1: the contract allows one u there, and no more than one.
  const auto nudged = [](float entry) {
    Kernel kernel = scalar_kernel();
    kernel.tables = [right = kernel.tables, entry](const TablesCall& call) {
      right(call);
      call.cos.as<float>()[0] = entry;
    };
    return kernel;
  };
  Case c;
  c.encoding = rope_of("rope(dim=4,theta=10000)");
  c.head_dim = 4;
  c.positions = {0};
  Truths truths;
  const auto verdict = [&](const Kernel& kernel) {
    return run_trial(rope_elementwise(), {c, Operation::tables, kernel, claimed_contract(kernel), truths})
        .verdict;
  };
  EXPECT_EQ(verdict(nudged(1 - 0x1p-24F)), Verdict::pass);
  EXPECT_EQ(verdict(nudged(1 - 0x1p-23F)), Verdict::fail);
  EXPECT_EQ(verdict(nudged(1 + 0x1p-23F)), Verdict::fail);
}

}  // namespace
}  // namespace sextant
