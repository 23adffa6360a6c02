#include "sextant/props/law_test.hpp"
#include "sextant/reference/attention.hpp"

namespace sextant {
namespace {

// Weights are 0 between documents, and each document's rows are those it has alone; a mask that leaks one
// token is told apart by intervals.
TEST(packed_equals_separate, truth) {
  const WorkingDigits scope(50);
  const auto rows = [](std::int64_t count, std::int64_t salt) {
    Rows<Interval> x;
    for (std::int64_t s = 0; s < count; ++s) {
      x.emplace_back();
      for (std::int64_t c = 0; c < 4; ++c) x.back().push_back(Interval((s * 5 + c * 3 + salt) % 7 - 3) / 4);
    }
    return x;
  };
  const Rows<Interval> q = rows(5, 1), k = rows(5, 2), v = rows(5, 3);
  const Interval scale = Interval(1) / 2;
  const auto split_at = [](std::size_t split) {
    return [split](std::size_t i, std::size_t keys) {
      return i < split ? VisibleKeys{0, split} : VisibleKeys{split, keys};
    };
  };
  const Rows<Interval> packed = attention(q, k, v, scale, split_at(2));
  const auto part = [](const Rows<Interval>& x, std::size_t first, std::size_t last) {
    return Rows<Interval>(x.begin() + static_cast<std::ptrdiff_t>(first),
                          x.begin() + static_cast<std::ptrdiff_t>(last));
  };
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, 2}, {2, 5}}) {
    const Rows<Interval> alone =
        attention(part(q, first, last), part(k, first, last), part(v, first, last), scale, false);
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t c = 0; c < 4; ++c) EXPECT_TRUE(meet(packed[i][c], alone[i - first][c], 100));
    }
  }
  EXPECT_FALSE(meet(packed[2][0], attention(q, k, v, scale, split_at(1))[2][0], 100));
}

TEST(packed_equals_separate, kernel) {
  expect_kept(packed_equals_separate(), {});
  for (const Kernel& kernel : own_kernels()) {
    if (!kernel.unavailable.empty() || !kernel.offers(Operation::attention)) continue;
    const Trials trials = run_trials(packed_equals_separate(), Operation::attention, kernel, {}, 20);
    EXPECT_EQ(trials.failed, 0) << kernel.name << " " << trials.measure.share();
    EXPECT_GT(trials.measure.elements, 1000) << kernel.name;
  }
}

TEST(packed_equals_separate, teeth) {
  const Kernel right = scalar_kernel();
  const auto caught = [&](const std::function<void(AttentionCall)>& attention, const char* fault) {
    Kernel faulty = right;
    faulty.attention = [right, attention](const AttentionCall& call) {
      call.mask == Mask::block_diagonal ? attention(call) : right.attention(call);
    };
    expect_caught(packed_equals_separate(), Operation::attention, faulty, {}, fault);
  };
  for (const Mask mask : {Mask::none, Mask::causal}) {
    caught(
        [=](AttentionCall call) {
          call.mask = mask;
          right.attention(call);
        },
        mask == Mask::none ? "documents that see each other" : "a causal mask instead");
  }
  const auto with_ends = [right](AttentionCall call,
                                 const std::function<void(std::vector<std::int32_t>&)>& change) {
    std::vector<std::int32_t> ends(call.cu_seqlens.as<const std::int32_t>(),
                                   call.cu_seqlens.as<const std::int32_t>() + call.cu_seqlens.dim(0));
    change(ends);
    call.cu_seqlens = dense(ends.data(), DType::i32, ends.size());
    right.attention(call);
  };
  caught(
      [=](const AttentionCall& call) {
        with_ends(call, [](auto& ends) {
          for (std::size_t d = 1; d + 1 < ends.size(); ++d) ends[d] = std::min(ends[d] + 1, ends.back());
        });
      },
      "ends one off");
  caught(
      [=](const AttentionCall& call) { with_ends(call, [](auto& ends) { ends.erase(ends.begin() + 1); }); },
      "an end ignored");
}

// cu_seqlens that do not cut the tokens are an error of the call, never an answer.
TEST(packed_equals_separate, ends_that_do_not_cut_the_tokens_are_refused) {
  std::vector<float> x(3 * 2), out(x.size());
  const Tensor heads = dense(x.data(), DType::f32, 1, 3, 1, 2);
  for (std::vector<std::int32_t> ends :
       {std::vector<std::int32_t>{0, 2}, {1, 3}, {0, 4, 3}, {3}, {0, 2, 1, 3}}) {
    for (const Kernel& kernel : own_kernels()) {
      if (!kernel.unavailable.empty() || !kernel.offers(Operation::attention)) continue;
      EXPECT_THROW(kernel.attention({heads,
                                     heads,
                                     heads,
                                     1,
                                     Mask::block_diagonal,
                                     {},
                                     dense(ends.data(), DType::i32, ends.size()),
                                     dense(out.data(), DType::f32, 1, 3, 1, 2),
                                     {}}),
                   InputError)
          << kernel.name;
    }
  }
}

}  // namespace
}  // namespace sextant
