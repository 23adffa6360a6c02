// A law: a statement over cases that a kernel must keep within the bounds of its contract.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/fixtures/generators/case.hpp"
#include "sextant/fixtures/kernel.hpp"
#include "sextant/props/contract.hpp"
#include "sextant/props/truths.hpp"
#include "sextant/props/verdict.hpp"

namespace sextant {

/// One kernel on one case.
struct Trial {
  const Case& c;
  Operation operation;
  const Kernel& kernel;
  const Contract& contract;
  Truths& truths;
};

struct Law {
  std::string id;                     ///< the name in the command, and of the file
  std::string title;                  ///< the statement in one line
  std::string blind_to;               ///< the faults it cannot see
  std::vector<Operation> operations;  ///< each is checked by itself
  bool needs_encoding = true;         ///< false: once per kernel
  bool by_geometry = false;  ///< once for each pairing, rotary width and head_dim among the encodings
  /// The cases to draw for an encoding with its declared context, or nothing where the law does not speak of
  /// it. The space may hold an encoding derived from the given one (a scaling drawn by `draw` upon a default
  /// RoPE).
  std::function<std::optional<CaseSpace>(const std::optional<Encoding>&, std::int64_t context,
                                         std::uint64_t draw)>
      space;
  /// Judges one trial; never throws for what a kernel does, except what the kernel itself throws.
  std::function<Outcome(const Trial&)> check;
};

/// The space of a law that speaks of one scheme alone: space(scheme, context, draw).
template <class Scheme, class Space>
[[nodiscard]] auto on(Space space) {
  return [space](const std::optional<Encoding>& encoding, std::int64_t context,
                 std::uint64_t draw) -> std::optional<CaseSpace> {
    const Scheme* scheme = encoding ? std::get_if<Scheme>(&*encoding) : nullptr;
    return scheme ? space(*scheme, context, draw) : std::nullopt;
  };
}

/// All laws, in the order in which they are listed.
[[nodiscard]] const std::vector<Law>& laws();
/// Throws InputError with near names.
[[nodiscard]] const Law& find_law(std::string_view id);

/// The dtypes in which a kernel takes an operation, of those that results can have: of cos and sin for
/// tables, of q, k and v for what rotates; f32 alone for the rest.
[[nodiscard]] std::vector<DType> dtypes_of(const Kernel& kernel, Operation operation);

/// Why this kernel cannot be sent this case, or nothing: what lies outside its capabilities is never sent.
[[nodiscard]] std::optional<std::string> why_not(const Kernel& kernel, Operation operation, const Case& c);

/// why_not, then check, by the contract for results of the case's dtype; Refused becomes unsupported, any
/// other exception crashed.
[[nodiscard]] Outcome run_trial(const Law& law, const Trial& trial);

/// The contract a kernel claims, with its claim about bits.
[[nodiscard]] Contract claimed_contract(const Kernel& kernel);

// One file each, under the law's name.
[[nodiscard]] Law permutation_equivariance();
[[nodiscard]] Law causal_mask_breaks_symmetry();
[[nodiscard]] Law packed_equals_separate();
[[nodiscard]] Law nope_layers();
[[nodiscard]] Law shaw_clipping();
[[nodiscard]] Law shaw_attention();
[[nodiscard]] Law transformer_xl_rows();
[[nodiscard]] Law transformer_xl_shift();
[[nodiscard]] Law rope_elementwise();
[[nodiscard]] Law rope_relative_offset();
[[nodiscard]] Law rope_convention_equivalence();
[[nodiscard]] Law rope_isometry();
[[nodiscard]] Law rope_group();
[[nodiscard]] Law rope_table_forms();
[[nodiscard]] Law rope_explicit_positions();
[[nodiscard]] Law rope_decode_equals_prefill();
[[nodiscard]] Law rope_head_independence();
[[nodiscard]] Law rope_gqa_order();
[[nodiscard]] Law rope_partial_passthrough();
[[nodiscard]] Law rope_values_untouched();
[[nodiscard]] Law rope_backward_adjoint();
[[nodiscard]] Law pi_scaling();
[[nodiscard]] Law ntk_frequency_ratios();
[[nodiscard]] Law yarn_ramp();
[[nodiscard]] Law yarn_temperature();
[[nodiscard]] Law llama3_bands();
[[nodiscard]] Law dynamic_ntk();
[[nodiscard]] Law longrope_switch();
[[nodiscard]] Law proportional();
[[nodiscard]] Law base_rescale();
[[nodiscard]] Law sinusoidal_rows();
[[nodiscard]] Law sinusoidal_shift();
[[nodiscard]] Law sinusoidal_ladder();
[[nodiscard]] Law learned_lookup();
[[nodiscard]] Law encode_decode_equals_prefill();
[[nodiscard]] Law encode_padding();
[[nodiscard]] Law encode_refusals();
[[nodiscard]] Law alibi_slopes();
[[nodiscard]] Law alibi_forms();
[[nodiscard]] Law t5_buckets();
[[nodiscard]] Law deberta_buckets();
[[nodiscard]] Law inputs_unchanged();
[[nodiscard]] Law memory_bounds();
[[nodiscard]] Law special_values();
[[nodiscard]] Law in_place();
[[nodiscard]] Law strided_views();
[[nodiscard]] Law shapes();
[[nodiscard]] Law repeatability();
[[nodiscard]] Law refusals();

}  // namespace sextant
