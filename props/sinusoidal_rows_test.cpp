#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(sinusoidal_rows, truth) {
  // Interleaved, halves and cosines first are one row permuted: d = 4, p = 1.
  const WorkingDigits scope(50);
  const auto row = [](const char* text, std::int64_t position) {
    const auto scheme = std::get<Sinusoidal>(parse_encoding(text));
    return sinusoid_row(scheme, inv_freq<Interval>(scheme), position);
  };
  const std::vector<Interval> c = row("sinusoidal(dim=4)", 1), b = row("sinusoidal(dim=4,layout=B)", 1);
  const double known[] = {0.841471, 0.540302, 0.01, 0.99995};
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(lower(c[j]).convert_to<double>(), known[j], 1e-6);
    EXPECT_TRUE(meet(c[j], b[j % 2 * 2 + j / 2]));
  }
  // A and A' are halves exchanged; position 0 is (0, 1); the zero column of an odd width is 0.
  const std::vector<Interval> a = row("sinusoidal(dim=9,layout=A)", 77);
  const std::vector<Interval> a_cos = row("sinusoidal(dim=9,layout=A')", 77);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_TRUE(meet(a[j], a_cos[j + 4]));
    EXPECT_TRUE(meet(a[j + 4], a_cos[j]));
  }
  EXPECT_EQ(a[8], 0);
  for (const Sinusoidal& scheme : sinusoids()) {
    if (scheme.layout == Sinusoidal::Layout::H) continue;
    const std::vector<Interval> start = sinusoid_row(scheme, inv_freq<Interval>(scheme), 0);
    const std::vector<SinusoidColumn> columns = columns_of(scheme);
    for (std::size_t j = 0; j < start.size(); ++j)
      EXPECT_EQ(start[j], columns[j].function == SinusoidColumn::Function::cosine ? 1 : 0);
  }
}

TEST(sinusoidal_rows, kernel) { expect_kept(sinusoidal_rows(), sinusoidal_encodings()); }

// The bound is that of the contract: seen worst within a factor of four, in every dtype.
TEST(sinusoidal_rows, bound_is_sharp) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Kernel kernel = scalar_kernel();
    kernel.capabilities.inputs = {dtype};
    const Trials trials =
        run_trials(sinusoidal_rows(), Operation::encode, kernel, sinusoidal_encodings(), 60);
    EXPECT_EQ(trials.failed, 0);
    std::printf("sinusoidal_rows: %s worst share %.3f\n", std::string(to_string(dtype)).c_str(),
                trials.measure.share());
    EXPECT_GT(trials.measure.share(), 0.25) << to_string(dtype);
  }
}

TEST(sinusoidal_rows, teeth) {
  const Law law = sinusoidal_rows();
  const Encoding plain = encoding_of("sinusoidal(dim=16)"), a = encoding_of("sinusoidal(dim=16,layout=A)"),
                 b = encoding_of("sinusoidal(dim=16,layout=B)"),
                 zero = encoding_of("sinusoidal(dim=9,layout=A)"),
                 grid = encoding_of("sinusoidal(dim=16,layout=G,grid_columns=14)"),
                 detr = encoding_of("sinusoidal(dim=24,layout=H,grid_rows=20,grid_columns=30)");
  using Layout = Sinusoidal::Layout;
  const auto caught = [&](const Kernel& kernel, const Encoding& encoding, const char* fault) {
    expect_caught(law, Operation::encode, kernel, {encoding}, fault);
  };
  const auto as = [](Layout layout) { return encoding_as([layout](Sinusoidal& s) { s.layout = layout; }); };
  caught(as(Layout::B), plain, "halves for interleaved");
  caught(as(Layout::C), b, "interleaved for halves");
  caught(as(Layout::A_cos), a, "halves swapped");
  caught(encoding_columns([](std::int64_t j, std::int64_t) { return j ^ 1; }), plain,
         "sines and cosines exchanged");
  caught(as(Layout::B), a, "exponent 2i/d for i/(n-1)");
  caught(as(Layout::A), b, "exponent i/(n-1) for 2i/d");
  caught(as(Layout::A), encoding_of("sinusoidal(dim=16,layout=F)"), "exponent i/(n-1) for i/n");
  caught(encoding_as([](Sinusoidal& s) { s.base *= 1.001; }), plain, "base off by 1e-3");
  caught(encoding_at([](std::int64_t p, std::int64_t, std::int64_t) { return p + 1; }), plain,
         "position off by one");
  caught(encoding_in_float16(), plain, "positions in float16");
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           serve(call);
           write_element(call.rows, call.rows.offset(0, call.rows.dim(1) - 1), 0x1p-26F);
         }),
         zero, "a zero column that is not 0");
  caught(encoding_columns([](std::int64_t j, std::int64_t dim) { return (j + dim / 2) % dim; }), grid,
         "columns of the grid before its rows");
  caught(encoding_as([](Sinusoidal& s) { --s.grid_columns; }), grid, "another width of the grid");
  caught(encoding_as([](Sinusoidal& s) { std::swap(s.grid_rows, s.grid_columns); }), detr,
         "extents of the grid exchanged");
  caught(encoding_by([](const EncodeCall& call, const auto& serve) {
           serve(call);
           write_element(call.rows, call.rows.offset(0, 3), NAN);
         }),
         plain, "NaN in a row");
  // Blind to padding.
  EXPECT_EQ(run_trials(law, Operation::encode, encoding_by([](const EncodeCall& call, const auto& serve) {
                         serve({call.encoding, call.positions, {}, call.table, call.rows});
                       }),
                       {plain})
                .failed,
            0);
}

// Beyond 2^24 the textbook's positions are rounded, and its frequencies drift long before: its own contract
// allows it, exact angles do not.
TEST(sinusoidal_rows, the_textbook_breaks_exact_angle) {
  EXPECT_GT(run_trials(sinusoidal_rows(), Operation::encode, scalar_kernel(),
                       {encoding_of("sinusoidal(dim=512)")}, 10, parse_contract("exact-angle"))
                .failed,
            0);
}

}  // namespace
}  // namespace sextant
