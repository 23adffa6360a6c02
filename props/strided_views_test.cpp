#include <fmt/format.h>

#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

TEST(strided_views, kernel) { expect_conduct(strided_views()); }

TEST(strided_views, teeth) {
  const Law law = strided_views();
  const auto caught = [&](const std::function<void(RotateCall)>& rotate, const char* fault) {
    Kernel faulty = scalar_kernel();
    faulty.rotate = rotate;
    expect_caught(law, Operation::rotate, faulty, law_encodings(), fault);
  };
  const auto right = scalar_kernel().rotate;
  caught(
      [&](RotateCall call) {
        for (Tensor* x : {&call.q, &call.q_out}) {
          for (int axis = x->rank - 2; axis >= 0; --axis) {
            const auto a = static_cast<std::size_t>(axis);
            x->strides[a] = x->strides[a + 1] * x->shape[a + 1];
          }
        }
        right(call);
      },
      "strides ignored");
  caught(
      [&](RotateCall call) {
        std::vector<std::int64_t> positions;
        if (call.layout == Layout::bhsd) {
          call.layout = Layout::bshd;
          for (std::int64_t h = 0; h < std::max(call.q.dim(1), call.k.dim(1)); ++h)
            positions.push_back(position_at(call.positions, 0, h % call.positions.dim(0)));
          call.positions = dense(positions.data(), DType::i64, positions.size());
        }
        right(call);
      },
      "bhsd read as bshd");
  caught(
      [&](RotateCall call) {
        right(call);
        if (call.k_out.strides[static_cast<std::size_t>(call.k_out.rank - 2)] >
            call.k_out.dim(call.k_out.rank - 1))
          call.k_out.as<float>()[call.k_out.dim(call.k_out.rank - 1)] = 0;
      },
      "a store into the gap");
  caught(
      [&](RotateCall call) {
        std::vector<std::int64_t> positions;
        for (std::int64_t t = 0; t < call.positions.dim(0); ++t)
          positions.push_back(call.layout == Layout::thd ? t : position_at(call.positions, 0, t));
        call.positions = dense(positions.data(), DType::i64, positions.size());
        right(call);
      },
      "the packed layout counts its positions by itself");
}

TEST(strided_views, a_kernel_of_dense_tensors_is_judged_on_its_layouts) {
  const Encoding encoding = rope_of("rope(dim=16,theta=10000)");
  const Case c = parse_case(
      fmt::format("encoding={} batch=2 heads=2 kv_heads=2 head_dim=16 positions=5,3,9 seq_len=10 mode=normal",
                  to_string(encoding)));
  const auto verdict_on = [&](const std::vector<Layout>& layouts, std::optional<Layout> refused) {
    Kernel dense_only = scalar_kernel();
    dense_only.capabilities.layouts = layouts;
    dense_only.rotate = [&](const RotateCall& call) {
      if (call.q.stride(0) != call.q.elements() / call.q.dim(0) || call.layout == refused)
        throw Refused("takes dense tensors only");
      scalar_kernel().rotate(call);
    };
    Truths truths;
    return run_trial(strided_views(),
                     {c, Operation::rotate, dense_only, claimed_contract(dense_only), truths})
        .verdict;
  };
  EXPECT_EQ(verdict_on({Layout::bshd, Layout::bhsd}, std::nullopt), Verdict::pass);
  EXPECT_EQ(verdict_on({Layout::bshd, Layout::bhsd}, Layout::bhsd), Verdict::unsupported);
  EXPECT_EQ(verdict_on({Layout::bshd}, std::nullopt), Verdict::unsupported);
}

}  // namespace
}  // namespace sextant
