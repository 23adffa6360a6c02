// RapidCheck generator of RoPE encodings over every scaling, for tests.
#pragma once
#include <rapidcheck.h>

#include "sextant/reference/encoding.hpp"

namespace sextant {

/// Uniform over [low, high), whatever RapidCheck's size.
template <class T>
[[nodiscard]] rc::Gen<T> uniform(T low, T high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

/// A double with three significant digits in [low, high), log-uniform: what configs hold.
[[nodiscard]] inline rc::Gen<double> config_number(double low, double high) {
  return rc::gen::map(uniform(0, 1 << 20), [=](int step) {
    const double value = low * std::pow(high / low, step / double{1 << 20});
    const double place = std::pow(10.0, std::floor(std::log10(value)) - 2);
    return std::round(value / place) * place;
  });
}

[[nodiscard]] inline rc::Gen<Scaling> arbitrary_scaling(std::int64_t dim) {
  return rc::gen::mapcat(uniform(0, dim > 2 ? 9 : 5), [dim](int kind) -> rc::Gen<Scaling> {
    return rc::gen::exec([dim, kind]() -> Scaling {
      const double factor = *config_number(1.1, 64);
      const auto original = std::int64_t{1} << *uniform(9, 18);
      const auto maybe = [](double value) {
        return *uniform(0, 3) == 0 ? std::optional<double>(value) : std::nullopt;
      };
      const auto list = [dim] {
        std::vector<double> values;
        for (std::int64_t i = 0; i < dim / 2; ++i) values.push_back(*config_number(1, 64));
        return values;
      };
      switch (kind) {
        case 0:
          return scaling::None{};
        case 1:
          return scaling::Linear{factor};
        case 2: {
          scaling::Yarn yarn;
          yarn.original = original;
          if (*uniform(0, 4) == 0) {
            yarn.max_position = *uniform<std::int64_t>(original / 2, 40 * original);
          } else {
            yarn.factor = factor;
          }
          yarn.beta_fast = *rc::gen::element(32.0, 16.0, 1.0, 64.0);
          yarn.beta_slow = *rc::gen::element(1.0, 2.0, 0.5);
          yarn.truncate = *uniform(0, 2) == 0;
          yarn.mscale = maybe(1.0);
          yarn.mscale_all_dim = maybe(0.707);
          yarn.attention_factor = maybe(1.2);
          return yarn;
        }
        case 3:
          return scaling::Llama3{factor, *rc::gen::element(1.0, 2.0), *rc::gen::element(4.0, 8.0, 2.0),
                                 original};
        case 4: {
          scaling::LongRope longrope;
          longrope.original = original;
          if (*uniform(0, 2) == 0) {
            longrope.factor = factor;
          } else {
            longrope.max_position = original * *uniform<std::int64_t>(1, 33);
          }
          longrope.short_factor = list();
          longrope.long_factor = list();
          longrope.attention_factor = maybe(1.1902380714238083);
          return longrope;
        }
        case 5:
          return scaling::Proportional{*rc::gen::element(0.25, 0.5, 1.0, 0.334), *rc::gen::element(1.0, 8.0)};
        case 6:
          return scaling::Ntk{factor};
        case 7:
          return scaling::Alpha{*config_number(1.1, 1000)};
        default:
          return scaling::Dynamic{factor, original};
      }
    });
  });
}

[[nodiscard]] inline rc::Gen<Rope> arbitrary_rope(int max_pairs = 64) {
  return rc::gen::exec([max_pairs]() {
    Rope rope;
    rope.dim = 2 * *uniform(1, max_pairs + 1);
    rope.head_dim = rope.dim + *rc::gen::element(0, 0, 2, 30);
    rope.theta =
        *rc::gen::oneOf(rc::gen::element(10000.0, 500000.0, 1e6, 150000.0, 10.0), config_number(2, 1e8));
    rope.pairing = *rc::gen::element(Pairing::half, Pairing::interleaved, Pairing::deinterleave);
    rope.direction = *rc::gen::element(1, 1, -1);
    rope.scaling = *arbitrary_scaling(rope.dim);
    return rope;
  });
}

}  // namespace sextant

namespace rc {
template <>
struct Arbitrary<sextant::Rope> {
  static Gen<sextant::Rope> arbitrary() { return sextant::arbitrary_rope(); }
};
}  // namespace rc

namespace sextant {
inline void showValue(const Rope& rope, std::ostream& os) { os << to_string(Encoding(rope)); }
}  // namespace sextant
