#include <cmath>
#include <limits>

#include "sextant/props/conduct_test.hpp"

namespace sextant {
namespace {

// In MPFR, whose infinities and NaN are those of the extended reals: the pair alone, with the signs required.
TEST(special_values, truth) {
  const WorkingDigits scope(50);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Rope& rope : law_encodings()) {
    const Frequencies<Mpfr> f = frequencies<Mpfr>(rope, 100);
    std::vector<Mpfr> x(static_cast<std::size_t>(rope.head_dim), Mpfr(1));
    const std::vector<Mpfr> plain = rotate(rope, f, 77, x);
    const PairChannels at = pair_channels(rope.pairing, rope.dim, 0);
    const TableRow<Mpfr> row = table_row(f, 77, TableForm::half);
    for (const double value : {infinity, -infinity, std::nan("")}) {
      x[static_cast<std::size_t>(at.in_a)] = Mpfr(value);
      const std::vector<Mpfr> y = rotate(rope, f, 77, x);
      for (std::int64_t channel = 0; channel < rope.head_dim; ++channel) {
        const auto i = static_cast<std::size_t>(channel);
        if (channel != at.out_a && channel != at.out_b) {
          EXPECT_TRUE(y[i] == (channel == at.in_a ? Mpfr(value) : plain[i])) << channel;
        } else if (std::isnan(value)) {
          EXPECT_FALSE(y[i] == y[i]);
        } else {
          const Mpfr turn = (channel == at.out_a ? row.cos[0] : row.sin[0] * rope.direction) * Mpfr(value);
          EXPECT_TRUE(y[i] == (turn > Mpfr(0) ? Mpfr(infinity) : Mpfr(-infinity)));
        }
      }
    }
  }
}

TEST(special_values, kernel) { expect_conduct(special_values()); }

TEST(special_values, teeth) {
  const Law law = special_values();
  expect_rotate_caught(law, "one NaN spoils the head", [](const RotateCall& call) {
    const HeadView view = head_view(call.q_out, call.layout);
    for (std::int64_t b = 0; b < view.batch; ++b) {
      for (std::int64_t s = 0; s < view.tokens; ++s) {
        for (std::int64_t h = 0; h < view.heads; ++h) {
          float* row = out_row(call.q_out, call.layout, b, s, h);
          float sum = 0;
          for (std::int64_t d = 0; d < std::get<Rope>(call.encoding).dim; ++d) sum += row[d];
          row[0] += 0 * sum;
        }
      }
    }
  });
  const auto each = [](const std::function<float(float)>& change) {
    return [change](const RotateCall& call) {
      for (std::int64_t i = 0; i < call.k_out.elements(); ++i) {
        if (i % call.k_out.dim(3) < std::get<Rope>(call.encoding).dim)
          call.k_out.as<float>()[i] = change(call.k_out.as<float>()[i]);
      }
    };
  };
  expect_rotate_caught(law, "NaN becomes 0", each([](float y) { return std::isnan(y) ? 0 : y; }));
  expect_rotate_caught(law, "infinity saturates",
                       each([](float y) { return std::fmax(std::fmin(y, 3e38F), -3e38F); }));
  expect_rotate_caught(law, "infinity loses its sign",
                       each([](float y) { return std::isinf(y) ? INFINITY : y; }));

  const std::vector<Rope> partial = {rope_of("rope(head_dim=24,dim=12,theta=500000)")};
  const auto tail = [&](const std::function<float(float)>& change, const char* fault) {
    const auto more = [change](const RotateCall& call) {
      for (std::int64_t i = 0; i < call.q_out.elements(); ++i) {
        if (i % call.q_out.dim(3) >= std::get<Rope>(call.encoding).dim)
          call.q_out.as<float>()[i] = change(call.q_out.as<float>()[i]);
      }
    };
    expect_caught(law, Operation::rotate, rotating_with(more), partial, fault);
  };
  tail([](float x) { return x == 0 ? 0.0F : x; }, "-0 becomes 0 in the tail");
  tail([](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0F : x; },
       "subnormals flushed in the tail");
  tail([](float x) { return std::isnan(x) ? NAN : x; }, "payloads of NaN lost in the tail");
}

}  // namespace
}  // namespace sextant
