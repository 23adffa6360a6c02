#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(encode_decode_equals_prefill, truth) {
  // A row is a function of its position alone: the same enclosure, whatever was computed before.
  const WorkingDigits scope(50);
  for (const Sinusoidal& scheme : sinusoids()) {
    const std::vector<Interval> w = inv_freq<Interval>(scheme);
    const std::vector<Interval> first = sinusoid_row(scheme, w, 41);
    (void)sinusoid_row(scheme, w, 40);
    const std::vector<Interval> second = sinusoid_row(scheme, w, 41);
    for (std::size_t j = 0; j < first.size(); ++j) EXPECT_EQ(first[j], second[j]);
  }
}

TEST(encode_decode_equals_prefill, kernel) {
  expect_kept(encode_decode_equals_prefill(), absolute_encodings());
  EXPECT_EQ(run_trials(encode_decode_equals_prefill(), Operation::encode, scalar_kernel(),
                       absolute_encodings(), 20, parse_contract("f32-angle"))
                .failed,
            0);
}

TEST(encode_decode_equals_prefill, teeth) {
  const Law law = encode_decode_equals_prefill();
  const auto first_call_only = [](const std::function<std::int64_t(std::int64_t)>& step) {
    return encoding_at([step](std::int64_t p, std::int64_t, std::int64_t tokens) {
      return tokens == 1 ? std::max<std::int64_t>(step(p), 0) : p;
    });
  };
  for (const Encoding& encoding :
       {encoding_of("sinusoidal(dim=16)"), encoding_of("learned(rows=514,dim=16,offset=2)")}) {
    const auto caught = [&](const Kernel& kernel, const char* fault) {
      expect_caught(law, Operation::encode, kernel, {encoding}, fault);
      EXPECT_GT(
          run_trials(law, Operation::encode, kernel, {encoding}, 20, parse_contract("f32-angle")).failed, 0)
          << fault;
    };
    caught(first_call_only([](std::int64_t) { return 0; }), "a step at position 0");
    caught(first_call_only([](std::int64_t p) { return p - 1; }), "a step one off");
    caught(encoding_at([](std::int64_t, std::int64_t s, std::int64_t) { return s; }),
           "positions by index of the call");
    const auto kept = std::make_shared<std::vector<float>>();
    caught(encoding_by([kept](const EncodeCall& call, const auto& serve) {
             serve(call);
             const std::int64_t dim = call.rows.dim(1);
             const bool step = call.rows.dim(0) == 1 && static_cast<std::int64_t>(kept->size()) == dim;
             for (std::int64_t j = 0; step && j < dim; ++j)
               write_element(call.rows, call.rows.offset(0, j), (*kept)[static_cast<std::size_t>(j)]);
             kept->clear();
             for (std::int64_t j = 0; j < dim; ++j)
               kept->push_back(read_element(call.rows, call.rows.offset(call.rows.dim(0) - 1, j)));
           }),
           "the row of the call before");
    // Blind to faults that prefill and decode share.
    const Kernel shared = encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p / 2; });
    EXPECT_EQ(run_trials(law, Operation::encode, shared, {encoding}).failed, 0);
  }
}

}  // namespace
}  // namespace sextant
