// Contracts: the precision promised for each stage of a kernel, and the bound per element that follows from
// it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/reference/encoding.hpp"

namespace sextant {

/// What a kernel promises. exact-angle: frequency and angle exact, cos and sin within 1 u, the rest in
/// float32. f32-angle: float32 frequencies by the published recipe, float32 angles, libm within one ulp, the
/// rest in float32.
struct Contract {
  enum class Frequency { exact, f32 };
  enum class Angle { exact, f32 };

  std::string name;
  Frequency frequency = Frequency::f32;
  Angle angle = Angle::f32;
  double trig_ulp = 1;      ///< bare cos and sin are within this many u = 2^-24, absolutely
  bool bits_exact = false;  ///< the bitwise laws are claimed

  [[nodiscard]] std::string title() const;
};

[[nodiscard]] const std::vector<Contract>& contracts();
/// A name, with +bits where the bitwise laws are claimed too. Throws InputError with the known names.
[[nodiscard]] Contract parse_contract(std::string_view name);

/// What may go wrong in one pair at one position, under a contract.
struct PairBound {
  double angle;        ///< |kernel's angle - m w|, rad
  double angle_round;  ///< the part of it that is not the frequency's: rounding of position and product
  double cos, sin;     ///< |A~ c~ - A cos(angle~)|: the table entries apart from the angle
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

  [[nodiscard]] const Contract& contract() const { return contract_; }
  [[nodiscard]] double attention_factor() const { return factor_; }
  /// |w~ - w| of a stored frequency, rad per position.
  [[nodiscard]] double frequency(std::int64_t pair) const {
    return frequency_[static_cast<std::size_t>(pair)];
  }
  [[nodiscard]] PairBound pair(std::int64_t pair, std::int64_t position, double cos, double sin) const;

  /// |inv_freq[pair] - w| and |attention_factor - A| as the operation `frequencies` gives them, in float32.
  [[nodiscard]] double frequency_output(std::int64_t pair) const;
  [[nodiscard]] double attention_factor_output() const { return factor_error_; }

  /// A table entry, `entry` being its PairBound::cos or ::sin: its exact value and its partner's (both times
  /// A).
  [[nodiscard]] ElementBound table_entry(const PairBound& at, double entry, double value,
                                         double partner) const;
  /// The arithmetic error of a rotated component, apart from the angle's: input pair, exact A cos and A sin.
  [[nodiscard]] double rotation(const PairBound& at, double x_a, double x_b, double cos, double sin) const;
  /// A rotated component: its exact value, its partner's, and rotation() of it; norm = A |x|.
  [[nodiscard]] ElementBound rotated(const PairBound& at, double rotation, double value, double partner,
                                     double norm) const;

 private:
  Contract contract_;
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
};
[[nodiscard]] AttentionBound attention_bound(std::int64_t keys, double worst_logit_error);
/// |fl(scale * fl(<q,k>)) - scale <q,k>| given sum |q_c k_c|.
[[nodiscard]] double logit_bound(std::int64_t channels, double scale, double sum_of_magnitudes);

}  // namespace sextant
