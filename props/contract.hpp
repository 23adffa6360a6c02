// Contracts: the precision promised for each stage of a kernel, and the bound per element that follows from
// it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/fixtures/tensor.hpp"
#include "sextant/reference/distance.hpp"
#include "sextant/reference/encoding.hpp"

namespace sextant {

/// What a kernel promises of each stage. Known by a name, or written out as text:
/// contract(frequency=f32,angle=f32,trig=1ulp,table=none,arithmetic=f32,output=f32,denormals=keep,bits=bound),
/// any key left out standing for the value given here.
struct Contract {
  /// exact; f32: the published recipe in float32, libm within one ulp; f32_running: theta^(-2i/d) by a
  /// running product in float32, times the rounded ratio of the scaled frequency to it; approx: as that,
  /// with exp2 and log2 within 2^-22 of their values in place of the product.
  enum class Frequency { exact, f32, f32_running, approx };
  /// m w exactly, or rounded to float32, and m before it.
  enum class Angle { exact, f32 };
  /// cos and sin before the rotation: as they are, rounded to a dtype, or given, so that nothing but the
  /// rotation is promised.
  enum class Table { none, f32, bf16, f16, given };
  /// Products and sum of the rotation: each rounded to the format; fma: one product is not.
  enum class Arithmetic { f32, fma, f64, bf16, f16 };

  std::string name;
  Frequency frequency = Frequency::f32;
  Angle angle = Angle::f32;
  /// Bare cos and sin are within this many u = 2^-24, absolutely, as stored in float32; none ("approx"):
  /// within 2^-21 for angles up to pi, and in proportion to the angle beyond.
  std::optional<double> trig_ulp = 1;
  Table table = Table::none;
  Arithmetic arithmetic = Arithmetic::f32;
  DType output = DType::f32;  ///< what results of float32 calls are rounded to; those of 16 bits to their own
  bool flushes = false;       ///< subnormal operands and results may count as 0
  bool bits_exact = false;    ///< the bitwise laws are claimed

  /// The text form, every key written out.
  [[nodiscard]] std::string title() const;
};

/// The named contracts.
[[nodiscard]] const std::vector<Contract>& contracts();
/// A name, with +bits where the bitwise laws are claimed too, or the text form. Throws InputError with the
/// known names or keys.
[[nodiscard]] Contract parse_contract(std::string_view text);
/// The contract for a call whose results are of `dtype`.
[[nodiscard]] Contract for_output(Contract contract, DType dtype);
/// Of f32, f64, f16 and bf16.
[[nodiscard]] const Format& format_of(DType dtype);

/// What may go wrong in one pair at one position, under a contract.
struct PairBound {
  double angle;        ///< |kernel's angle - m w|, rad
  double angle_round;  ///< the part of it that is not the frequency's: rounding of position and product
  double cos, sin;     ///< |C~ - A cos(angle~)|: the table entries apart from the angle
};

/// Bound on the error of one output element: absolute; and whether it says anything (see kNoClaim).
struct ElementBound {
  double absolute;
  bool claim;
};

/// A bound of at least this share of the pair norm says nothing: the element counts as "no claim", never as
/// passed.
inline constexpr double kNoClaim = 0.125;

/// The bounds of one contract for one encoding at one current length. Every bound returned is inflated by
/// 2^-40, which covers its own double arithmetic and the error of the truth it is compared with (2^-100 of
/// the pair norm).
class Bounds {
 public:
  Bounds(const Contract& contract, const Rope& rope, std::int64_t seq_len);
  /// Of the rows of a sinusoid: sines and cosines as entries of a table, the position being the coordinate of
  /// the pair.
  Bounds(const Contract& contract, const Sinusoidal& scheme);

  [[nodiscard]] const Contract& contract() const { return contract_; }
  [[nodiscard]] double attention_factor() const { return factor_; }
  /// The format that results are rounded to: errors in ulp and pair_ulp are measured in it.
  [[nodiscard]] const Format& output() const { return *output_; }
  /// Where A times the norm of a pair is above this, an intermediate result may overflow: such elements are
  /// exempt and counted. Bounds of such pairs, and of tables that may overflow, are infinite.
  [[nodiscard]] double largest_norm() const { return largest_norm_; }
  /// |w~ - w| of a stored frequency, rad per position.
  [[nodiscard]] double frequency(std::int64_t pair) const {
    return frequency_[static_cast<std::size_t>(pair)];
  }
  [[nodiscard]] PairBound pair(std::int64_t pair, std::int64_t position, double cos, double sin) const;
  /// The same where cos and sin are given, in `table`, and exact by definition.
  [[nodiscard]] PairBound given(double cos, double sin, const Format& table) const;

  /// |inv_freq[pair] - w| and |attention_factor - A| as the operation `frequencies` gives them, in float32.
  [[nodiscard]] double frequency_output(std::int64_t pair) const;
  [[nodiscard]] double attention_factor_output() const { return factor_error_; }

  /// Bound on |(C~, S~) - A (cos t, sin t)|, t the kernel's own angle: the entries of a pair as a vector.
  [[nodiscard]] double entries_error(const PairBound& at) const;
  /// A table entry, `entry` being its PairBound::cos or ::sin: its exact value and its partner's (both times
  /// A).
  [[nodiscard]] ElementBound table_entry(const PairBound& at, double entry, double value,
                                         double partner) const;
  /// The arithmetic error of a rotated component, apart from the angle's and the roundings of its sum: input
  /// pair, exact A cos and A sin.
  [[nodiscard]] double rotation(const PairBound& at, double x_a, double x_b, double cos, double sin) const;
  /// A rotated component: its exact value, its partner's, and rotation() of it; norm = A |x|.
  [[nodiscard]] ElementBound rotated(const PairBound& at, double rotation, double value, double partner,
                                     double norm) const;
  /// Bound on the length of a rotated pair's error apart from its angle, from rotation() of its components.
  [[nodiscard]] double rotation_error(double rotation_a, double rotation_b, double norm) const;
  /// `error` of a value before, and bound after, the roundings of the sum and of the output.
  [[nodiscard]] double settled(double error, double value) const;

 private:
  explicit Bounds(const Contract& contract);
  struct FrequencyRecipe;
  void set_frequencies(const FrequencyRecipe& recipe);
  /// The least normal number of the formats in use: what flushing may lose.
  [[nodiscard]] double flushed() const;
  /// `error` of a table entry before its rounding to the output, and after.
  [[nodiscard]] double stored(double error, double value) const;

  Contract contract_;
  const Format* output_;
  const Format* arithmetic_;
  const Format* table_ = nullptr;  ///< that entries are rounded to, beyond float32
  double largest_norm_;
  double factor_ = 1;
  double factor_error_ = 0;
  double factor_relative_ = 0;  ///< eta of the proof
  std::vector<double> inv_freq_;
  std::vector<double> frequency_;
};

/// Bound of |out - exact| per channel of softmax attention in float32 (contract.cpp has the proof).
/// weights: exact p_j of the visible keys; score_error: bound on each logit's error; values: |v_j| of this
/// channel.
struct AttentionBound {
  /// Relative bound on the weights that all channels share, from the logits' error bounds.
  double relative = 0;
  double absolute_per_value = 0;
  double absolute = 0;  ///< products of weights and values that underflow
};
/// `spread` is how far the exact logits lie below their largest.
[[nodiscard]] AttentionBound attention_bound(std::int64_t keys, double worst_logit_error, double spread);
/// |fl(scale * fl(<q,k>)) - scale <q,k>| given sum |q_c k_c|.
[[nodiscard]] double logit_bound(std::int64_t channels, double scale, double sum_of_magnitudes);

}  // namespace sextant
