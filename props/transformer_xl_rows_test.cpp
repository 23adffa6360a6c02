#include "sextant/fixtures/layout.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/transformer_xl.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

using Form = TransformerXl::Form;

const Encodings kSchemes = {TransformerXl{64, -1, Form::xlnet}, TransformerXl{6, 40, Form::xlnet},
                            TransformerXl{32, -1, Form::conformer}, TransformerXl{8, 3, Form::conformer}};

// The truth that the law compares with is the definition's, enclosed.
TEST(transformer_xl_rows, truth) {
  const WorkingDigits scope(60);
  for (const Encoding& encoding : kSchemes) {
    const auto& scheme = std::get<TransformerXl>(encoding);
    const ExactRows exact(rotary_of(scheme), 1);
    for (const std::int64_t distance : {0, 1, -3, 4, -41, 131071}) {
      const ExactRow row = exact.take(clamped_distance(scheme, distance));
      const auto want = transformer_xl_sinusoids<Interval>(scheme, distance);
      for (std::int64_t i = 0; i < scheme.dim / 2; ++i) {
        const SinusoidColumns columns = sinusoid_columns(sinusoids_of(scheme), i);
        const auto near = [&](const Wide& got, std::int64_t column) {
          const Interval& enclosed = want[static_cast<std::size_t>(column)];
          const Mpfr value = Mpfr(got.hi) + Mpfr(got.lo), slack(ExactRows::kRowError);
          return value + slack >= lower(enclosed) && value - slack <= upper(enclosed);
        };
        EXPECT_TRUE(near(row.sin[static_cast<std::size_t>(i)], columns.sine));
        EXPECT_TRUE(near(row.cos[static_cast<std::size_t>(i)], columns.cosine));
      }
    }
  }
}

TEST(transformer_xl_rows, kernel) {
  expect_kept(transformer_xl_rows(), kSchemes);
  for (const Kernel& kernel : own_kernels()) {
    const std::vector<std::string>& schemes = kernel.capabilities.schemes;
    if (!kernel.unavailable.empty() ||
        std::find(schemes.begin(), schemes.end(), "transformer_xl") == schemes.end())
      continue;
    const Trials trials =
        run_trials(transformer_xl_rows(), Operation::encode, kernel, kSchemes, 30, std::nullopt, Dtypes::all);
    EXPECT_EQ(trials.failed, 0) << kernel.name << " " << trials.measure.share();
    EXPECT_GT(trials.measure.elements, 1000) << kernel.name;
    EXPECT_GT(trials.measure.share(), 0.25) << kernel.name;
  }
}

TEST(transformer_xl_rows, teeth) {
  /// The right rows of another scheme or of other distances; `change` has both before the call.
  const auto caught = [](const std::function<void(TransformerXl&, std::int64_t&)>& change,
                         const char* fault) {
    Kernel kernel = scalar_kernel();
    kernel.encode = [right = kernel.encode, change](const EncodeCall& call) {
      TransformerXl scheme = std::get<TransformerXl>(call.encoding);
      std::vector<std::int64_t> distances;
      for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
        scheme = std::get<TransformerXl>(call.encoding);
        change(scheme, distances.emplace_back(position_at(call.positions, 0, s)));
      }
      const Encoding other = scheme;
      right({other, dense(distances.data(), DType::i64, distances.size()), {}, {}, call.rows});
    };
    expect_caught(transformer_xl_rows(), Operation::encode, kernel,
                  {TransformerXl{6, 40, Form::xlnet}, TransformerXl{8, 3, Form::conformer}}, fault);
  };
  caught([](TransformerXl& scheme, std::int64_t&) { scheme.clamp = -1; }, "the clamp missing");
  caught([](TransformerXl& scheme, std::int64_t&) { ++scheme.clamp; }, "the clamp one off");
  caught(
      [](TransformerXl& scheme, std::int64_t& distance) {
        distance = std::min(distance, scheme.clamp);
        scheme.clamp = -1;
      },
      "distances > 0 clamped alone");
  caught([](TransformerXl&, std::int64_t& distance) { distance = -distance; },
         "distances counted the other way");
  caught([](TransformerXl&, std::int64_t& distance) { ++distance; }, "distances one off");
  caught([](TransformerXl& scheme,
            std::int64_t&) { scheme.form = scheme.form == Form::xlnet ? Form::conformer : Form::xlnet; },
         "the other form's columns");
  const auto changed = [](const std::function<void(std::int64_t, std::int64_t, float*)>& change,
                          const char* fault) {
    Kernel kernel = scalar_kernel();
    kernel.encode = [right = kernel.encode, change](const EncodeCall& call) {
      right(call);
      for (std::int64_t s = 0; s < call.rows.dim(0); ++s)
        change(position_at(call.positions, 0, s), call.rows.dim(1),
               call.rows.as<float>() + call.rows.offset(s));
    };
    expect_caught(transformer_xl_rows(), Operation::encode, kernel, {TransformerXl{64, -1, Form::xlnet}},
                  fault);
  };
  changed(
      [](std::int64_t, std::int64_t dim, float* row) { std::swap_ranges(row, row + dim / 2, row + dim / 2); },
      "sines and cosines exchanged");
  changed(
      [](std::int64_t distance, std::int64_t dim, float* row) {
        for (std::int64_t i = 0; i < dim / 2; ++i) {
          const float angle = static_cast<float>(distance) *
                              std::pow(10000.0F, -static_cast<float>(i) / static_cast<float>(dim / 2 - 1));
          row[i] = std::sin(angle);
          row[dim / 2 + i] = std::cos(angle);
        }
      },
      "exponent i/(n-1)");
}

}  // namespace
}  // namespace sextant
