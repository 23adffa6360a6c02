#include "sextant/reference/sinusoidal.hpp"

#include "sextant/reference/arbitrary_encoding.hpp"
#include "sextant/reference/decimal.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/exact.hpp"
#include "sextant/reference/oracle/seeds.hpp"
#include "sextant/reference/property.hpp"
#include "sextant/reference/rounded.hpp"
#include "sextant/reference/table.hpp"
#include "sextant/reference/truth.hpp"

namespace sextant {
namespace {

using Layout = Sinusoidal::Layout;

Sinusoidal sinusoid(const char* text) { return std::get<Sinusoidal>(parse_encoding(text)); }

constexpr Layout kLayouts[] = {Layout::A, Layout::A_cos, Layout::B, Layout::C,
                               Layout::F, Layout::G,     Layout::H};

Sinusoidal arbitrary_sinusoid(Layout layout) {
  Sinusoidal scheme;
  scheme.layout = layout;
  scheme.base = *rc::gen::oneOf(rc::gen::element(10000.0, 100.0, 1e6), config_number(1.5, 1e8));
  if (has_two_axes(layout)) {
    scheme.dim = 4 * *uniform<std::int64_t>(1, 24);
    scheme.grid_columns = *uniform<std::int64_t>(1, 40);
    if (layout == Layout::H) scheme.grid_rows = *uniform<std::int64_t>(1, 40);
  } else {
    scheme.dim = *uniform<std::int64_t>(4, 100);
  }
  validate(scheme);
  return scheme;
}

std::int64_t arbitrary_position(const Sinusoidal& scheme) {
  const PositionRange range = positions_of(scheme);
  return *uniform<std::int64_t>(std::max<std::int64_t>(range.first, -1000000),
                                std::min<std::int64_t>(range.last, 1000000) + 1);
}

TEST(sinusoidal, check_values) {
  // d = 8, p = 3 and p = 1000; exponent i/(n-1) in A, 2i/d in B, C (and D, E).
  struct Known {
    Layout layout;
    std::int64_t position;
    std::vector<std::string> sines, cosines;
  };
  const std::vector<Known> known = {
      {Layout::A,
       3,
       {"0.14112000805986722210", "0.13879810108005052857", "0.0064632590701896432457",
        "0.00029999999550000002025"},
       {"-0.98999249660044545727", "0.99032069913567497657", "0.99997911292296081203",
        "0.99999995500000033750"}},
      {Layout::B,
       3,
       {"0.14112000805986722210", "0.29552020666133957511", "0.029995500202495660769",
        "0.0029999955000020249996"},
       {"-0.98999249660044545727", "0.95533648912560601964", "0.99955003374898751627",
        "0.99999550000337499899"}},
      {Layout::A,
       1000,
       {"0.82687954053200256026", "0.65031685958630447629", "0.83446320776041348870",
        "0.099833416646828152307"},
       {}},
      {Layout::B,
       1000,
       {"0.82687954053200256026", "-0.50636564110975879366", "-0.54402111088936981340",
        "0.84147098480789650665"},
       {}},
  };
  const auto printed = [](Layout layout, std::int64_t position) {
    Sinusoidal scheme;
    scheme.dim = 8;
    scheme.layout = layout;
    return print_rows({scheme, {position}, 20, nullptr}, [](std::size_t) {}).rows.front();
  };
  for (const Known& entry : known) {
    const std::vector<std::string> row = printed(entry.layout, entry.position);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(row[i], entry.sines[i]);
      if (!entry.cosines.empty()) {
        EXPECT_EQ(row[4 + i], entry.cosines[i]);
      }
      // The same numbers in the layouts that permute them.
      const bool halves = entry.layout == Layout::B;
      EXPECT_EQ(
          halves ? printed(Layout::C, entry.position)[2 * i] : printed(Layout::A_cos, entry.position)[4 + i],
          entry.sines[i]);
    }
  }
  const auto frequencies = [](const char* text) {
    return print_rows({sinusoid(text), {0}, 20, nullptr}, [](std::size_t) {}).inv_freq;
  };
  EXPECT_EQ(frequencies("sinusoidal(dim=8,layout=A)"),
            (std::vector<std::string>{"1.0000000000000000000", "0.046415888336127788924",
                                      "0.0021544346900318837218", "0.00010000000000000000000"}));
  EXPECT_EQ(frequencies("sinusoidal(dim=8)"),
            (std::vector<std::string>{"1.0000000000000000000", "0.10000000000000000000",
                                      "0.010000000000000000000", "0.0010000000000000000000"}));
  EXPECT_EQ(frequencies("sinusoidal(dim=9,layout=F)").back(), "0");
}

// A second derivation, in another arithmetic: frequencies by repeated products with one root, e^(i w) by its
// series, angles by its powers.
std::vector<Bin100> second_row(const Sinusoidal& scheme, std::int64_t position) {
  const std::int64_t quarter = scheme.dim / 4, half = scheme.dim / 2;
  const auto turn = [](const Bin100& w, std::int64_t times) {
    Bin100 re = 0, im = 0, term = 1;  // of the exponential series of i w
    for (int n = 0; n < 200; ++n) {
      (n % 2 == 0 ? re : im) += n % 4 < 2 ? term : Bin100(-term);
      term *= w / (n + 1);
    }
    if (times < 0) im = -im;
    Bin100 x = 1, y = 0;
    for (std::int64_t n = std::abs(times); n > 0; n /= 2) {
      if (n % 2 != 0) std::tie(x, y) = std::pair{Bin100(x * re - y * im), Bin100(x * im + y * re)};
      std::tie(re, im) = std::pair{Bin100(re * re - im * im), Bin100(2 * re * im)};
    }
    return std::pair{x, y};
  };
  const auto ladder = [&](const Bin100& root, std::int64_t index) {
    Bin100 w = 1;
    for (std::int64_t i = 0; i < index; ++i) w /= root;
    return w;
  };
  const Bin100 ln = log(Bin100(scheme.base));
  const std::int64_t x = scheme.grid_columns > 0 ? position % scheme.grid_columns : 0;
  const std::int64_t y = scheme.grid_columns > 0 ? position / scheme.grid_columns : 0;
  std::vector<Bin100> row;
  for (std::int64_t j = 0; j < scheme.dim; ++j) {
    const bool odd = j % 2 != 0;
    const auto sine_or_cosine = [&](bool cosine, const Bin100& w, std::int64_t m) {
      const auto [c, s] = turn(w, m);
      row.push_back(cosine ? c : s);
    };
    switch (scheme.layout) {
      case Layout::A:
      case Layout::A_cos:
      case Layout::F: {
        const Bin100 root = exp(Bin100(ln / (scheme.layout == Layout::F ? half : half - 1)));
        if (j == 2 * half)
          row.emplace_back(0);
        else
          sine_or_cosine((j >= half) != (scheme.layout == Layout::A_cos), ladder(root, j % half), position);
        break;
      }
      case Layout::B: {
        const std::int64_t sines = scheme.dim - half;
        sine_or_cosine(j >= sines, ladder(exp(Bin100(2 * ln / scheme.dim)), j < sines ? j : j - sines),
                       position);
        break;
      }
      case Layout::C:
        sine_or_cosine(odd, ladder(exp(Bin100(2 * ln / scheme.dim)), j / 2), position);
        break;
      case Layout::G:
        sine_or_cosine(j / quarter % 2 != 0, ladder(exp(Bin100(ln / quarter)), j % quarter),
                       j < half ? y : x);
        break;
      case Layout::H: {
        const std::int64_t extent = j < half ? scheme.grid_rows : scheme.grid_columns;
        const Bin100 scale = 2 * pi<Bin100>() / (extent + Bin100(1) / 1000000);
        sine_or_cosine(odd, scale * ladder(exp(Bin100(2 * ln / half)), j % half / 2), (j < half ? y : x) + 1);
        break;
      }
    }
  }
  return row;
}

TEST(sinusoidal, two_derivations_agree) {
  const WorkingDigits scope(90);
  for (const Layout layout : kLayouts) {
    expect_property("rows by powers of one unit complex number", [layout] {
      const Sinusoidal scheme = arbitrary_sinusoid(layout);
      const std::int64_t position = arbitrary_position(scheme);
      const std::vector<Mpfr> row = sinusoid_row(scheme, inv_freq<Mpfr>(scheme), position);
      const std::vector<Bin100> second = second_row(scheme, position);
      RC_ASSERT(row.size() == second.size());
      for (std::size_t j = 0; j < row.size(); ++j) {
        const Mpfr other(second[j].str(0, std::ios_base::scientific));
        RC_ASSERT(abs(Mpfr(row[j] - other)) < 1e-70);
      }
    });
  }
}

TEST(sinusoidal, columns_and_pairs_are_two_views_of_one_row) {
  using Function = SinusoidColumn::Function;
  for (const Layout layout : kLayouts) {
    expect_property("every column once", [layout] {
      const Sinusoidal scheme = arbitrary_sinusoid(layout);
      const std::vector<SinusoidColumn> columns = columns_of(scheme);
      RC_ASSERT(static_cast<std::int64_t>(columns.size()) == scheme.dim);
      std::int64_t sines = 0, cosines = 0, zeros = 0;
      for (const SinusoidColumn& column : columns) {
        sines += column.function == Function::sine;
        cosines += column.function == Function::cosine;
        zeros += column.function == Function::zero;
      }
      RC_ASSERT(cosines == whole_pairs(scheme));
      RC_ASSERT(zeros == zero_columns(scheme));
      RC_ASSERT(sines + zeros == sinusoid_pairs(scheme));
      const std::int64_t position = arbitrary_position(scheme);
      const std::vector<double> w = inv_freq<double>(scheme), row = sinusoid_row(scheme, w, position);
      for (std::size_t j = 0; j < columns.size(); ++j) {
        const auto pair =
            static_cast<std::size_t>(columns[j].frequency + columns[j].axis * pairs_per_axis(scheme));
        const double angle = static_cast<double>(coordinate_of(scheme, columns[j].axis, position)) * w[pair];
        RC_ASSERT(row[j] == (columns[j].function == Function::zero   ? 0
                             : columns[j].function == Function::sine ? std::sin(angle)
                                                                     : std::cos(angle)));
      }
    });
  }
}

TEST(sinusoidal, grids_count_rows_and_columns_from_0_or_1) {
  const Sinusoidal g = sinusoid("sinusoidal(dim=8,layout=G,grid_columns=3)");
  const Sinusoidal h = sinusoid("sinusoidal(dim=8,layout=H,grid_rows=2,grid_columns=3)");
  EXPECT_EQ(coordinate_of(g, 0, 5), 1);
  EXPECT_EQ(coordinate_of(g, 1, 5), 2);
  EXPECT_EQ(coordinate_of(h, 0, 5), 2);
  EXPECT_EQ(coordinate_of(h, 1, 5), 3);
  EXPECT_TRUE(positions_of(h).holds(5));
  EXPECT_FALSE(positions_of(h).holds(6));
  EXPECT_FALSE(positions_of(g).holds(-1));
  EXPECT_THROW((void)print_rows({h, {6}, 20, nullptr}, [](std::size_t) {}), InputError);
}

TEST(sinusoidal, the_float32_recipe_keeps_its_bound_and_nearly_fills_it) {
  for (const Layout layout : kLayouts) {
    double worst = 0;
    expect_property("frequencies in float32", [&, layout] {
      const WorkingDigits scope(50);
      const Sinusoidal scheme = arbitrary_sinusoid(layout);
      const std::vector<Mpfr> exact = inv_freq<Mpfr>(scheme);
      const std::vector<float> got = inv_freq<float>(scheme);
      const std::vector<Rounded<24>> bounded = inv_freq<Rounded<24>>(scheme);
      RC_ASSERT(exact.size() == bounded.size());
      for (std::size_t k = 0; k < exact.size(); ++k) {
        const double error = Mpfr(abs(Mpfr(got[k]) - exact[k])).convert_to<double>();
        RC_ASSERT(error <= bounded[k].error() * (1 + 0x1p-40) + 0x1p-120);
        if (bounded[k].error() > 0) worst = std::max(worst, error / bounded[k].error());
      }
    });
    std::printf("sinusoidal: layout %d worst error / bound of a frequency = %.3f\n", static_cast<int>(layout),
                worst);
    EXPECT_GT(worst, 0.25) << static_cast<int>(layout);
  }
}

TEST(sinusoidal, exact_rows_are_the_definition) {
  const WorkingDigits scope(70);
  for (const Layout layout : kLayouts) {
    expect_property("rows of the oracle", [layout] {
      const Sinusoidal scheme = arbitrary_sinusoid(layout);
      const std::int64_t position = arbitrary_position(scheme);
      const std::vector<Mpfr> row = sinusoid_row(scheme, inv_freq<Mpfr>(scheme), position);
      const ExactRow exact = ExactRows(scheme).take(position);
      for (std::int64_t k = 0; k < sinusoid_pairs(scheme); ++k) {
        const SinusoidColumns at = sinusoid_columns(scheme, k);
        const auto off = [&](const Wide& got, std::int64_t column) {
          return Mpfr(abs(Mpfr(got.hi) + Mpfr(got.lo) - row[static_cast<std::size_t>(column)]))
              .convert_to<double>();
        };
        RC_ASSERT(off(exact.sin[static_cast<std::size_t>(k)], at.sine) <= ExactRows::kRowError);
        if (at.cosine >= 0)
          RC_ASSERT(off(exact.cos[static_cast<std::size_t>(k)], at.cosine) <= ExactRows::kRowError);
      }
    });
  }
}

TEST(sinusoidal, widths_without_exponents_are_input_errors) {
  for (const char* text : {"sinusoidal(dim=3,layout=A)", "sinusoidal(dim=1,layout=F)",
                           "sinusoidal(dim=6,layout=G,grid_columns=2)"})
    EXPECT_THROW((void)parse_encoding(text), InputError) << text;
}

}  // namespace
}  // namespace sextant
