// What a certified sweep has seen: counts, exact sums and the worst witness, merged in any order to the same
// bytes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace sextant {

enum class Function { cos, sin };

/// A sum of errors in units of 2^-16 ulp, in 128 bits; it stops at its largest value.
struct UlpSum {
  static constexpr double kUnitsPerUlp = 65536;

  std::uint64_t high = 0;
  std::uint64_t low = 0;

  UlpSum& operator+=(const UlpSum& other);
  /// The nearest integer number of units; what does not fit, infinity too, saturates.
  [[nodiscard]] static UlpSum from_ulp(double ulp);
  [[nodiscard]] static UlpSum from_units(std::uint64_t units) { return {0, units}; }
  [[nodiscard]] bool saturated() const { return ~high == 0 && ~low == 0; }
  [[nodiscard]] double ulp() const;
  bool operator==(const UlpSum&) const = default;
};

/// Errors of a set of values. A single error counts rounded to units of 2^-16 ulp of the true value, to
/// nearest (errors from 2^37 ulp to the nearest double): a function of the value and the truth alone,
/// whichever rung, target, thread or shard certified it. So is max_abs, the double nearest to |got - truth|.
/// NaN and undecided values are in neither sum nor maxima.
struct Errors {
  std::uint64_t values = 0;
  std::uint64_t not_correctly_rounded = 0;  ///< further than half an ulp from the truth, NaN included
  std::uint64_t undecided = 0;
  std::uint64_t nan = 0;
  UlpSum sum;
  double max_ulp = 0;
  double max_abs = 0;

  Errors& operator+=(const Errors& other);
  [[nodiscard]] double mean_ulp() const;
  bool operator==(const Errors&) const = default;
};

struct TallyWitness {
  std::int64_t position = 0;
  std::int64_t pair = 0;
  Function function = Function::cos;
  double got = 0;
  double want = 0;  ///< the correctly rounded value
  double ulp = 0;   ///< NaN for a NaN

  /// Order of places: the lowest position, then pair, then cos before sin.
  [[nodiscard]] bool stands_before(const TallyWitness& other) const;
};

struct Tally {
  /// Octave 0 is position 0; octave n holds 2^(n-1) <= |position| < 2^n, up to 2^40.
  static constexpr int kOctaves = 42;

  std::uint64_t points = 0;  ///< positions times pairs
  Errors all;
  std::array<Errors, kOctaves> octaves{};
  std::optional<TallyWitness> worst;      ///< of the largest error; ties go to the first place
  std::optional<TallyWitness> first_nan;  ///< the first place of a NaN

  Tally& operator+=(const Tally& other);
  /// Keeps the witness if it is worse than what is known, or as bad at an earlier place.
  void offer_worst(const TallyWitness& witness);
  void offer_nan(const TallyWitness& witness);
};

/// The octave of a position.
[[nodiscard]] int octave_of(std::int64_t position);

}  // namespace sextant
