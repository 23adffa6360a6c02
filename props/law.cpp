// The list of laws, and how one is run on one kernel.
#include "sextant/props/law.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/fixtures/calls.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/oracle/environment.hpp"

namespace sextant {

const std::vector<Law>& laws() {
  static const std::vector<Law> all = {
      permutation_equivariance(),
      causal_mask_breaks_symmetry(),
      packed_equals_separate(),
      nope_layers(),
      shaw_clipping(),
      shaw_attention(),
      transformer_xl_rows(),
      transformer_xl_shift(),
      rope_elementwise(),
      rope_relative_offset(),
      rope_convention_equivalence(),
      rope_isometry(),
      rope_group(),
      rope_table_forms(),
      rope_explicit_positions(),
      rope_decode_equals_prefill(),
      rope_head_independence(),
      rope_gqa_order(),
      rope_partial_passthrough(),
      rope_values_untouched(),
      rope_backward_adjoint(),
      pi_scaling(),
      ntk_frequency_ratios(),
      yarn_ramp(),
      yarn_temperature(),
      llama3_bands(),
      dynamic_ntk(),
      longrope_switch(),
      proportional(),
      base_rescale(),
      sinusoidal_rows(),
      sinusoidal_shift(),
      sinusoidal_ladder(),
      learned_lookup(),
      encode_decode_equals_prefill(),
      encode_padding(),
      encode_refusals(),
      alibi_slopes(),
      alibi_forms(),
      t5_buckets(),
      deberta_buckets(),
      inputs_unchanged(),
      memory_bounds(),
      special_values(),
      in_place(),
      strided_views(),
      shapes(),
      repeatability(),
      refusals(),
  };
  return all;
}

const Law& find_law(std::string_view id) {
  for (const Law& law : laws()) {
    if (law.id == id) return law;
  }
  std::string known;
  for (const Law& law : laws()) known += fmt::format("{}{}", known.empty() ? "" : ", ", law.id);
  throw InputError(fmt::format("unknown law \"{}\": known are {}", id.substr(0, 80), known));
}

namespace {

template <class Value>
bool holds(const std::vector<Value>& offered, Value value) {
  return std::find(offered.begin(), offered.end(), value) != offered.end();
}

}  // namespace

std::vector<DType> dtypes_of(const Kernel& kernel, Operation operation) {
  switch (operation) {
    case Operation::tables:
      return kernel.capabilities.tables;
    case Operation::rotate:
    case Operation::rotate_with_tables:
    case Operation::rotate_backward:
    case Operation::sequence:
    case Operation::encode:
    case Operation::bias:
      return kernel.capabilities.inputs;
    default:
      return {DType::f32};
  }
}

std::optional<std::string> why_not(const Kernel& kernel, Operation operation, const Case& c) {
  if (!kernel.offers(operation)) return fmt::format("offers no {}", to_string(operation));
  const Capabilities& can = kernel.capabilities;
  if (!holds(dtypes_of(kernel, operation), c.dtype))
    return fmt::format("offers no {} in {}", to_string(operation), to_string(c.dtype));
  if (operation == Operation::rotate_with_tables && !holds(can.tables, c.table))
    return fmt::format("offers no tables in {}", to_string(c.table));
  if (c.tokens() < can.min_tokens) return fmt::format("needs at least {} tokens", can.min_tokens);
  const bool rotates = c.encoding && std::holds_alternative<Rope>(*c.encoding);
  if (rotates && c.head_dim % can.head_dim_multiple != 0) {
    return fmt::format("head_dim must be a multiple of {}", can.head_dim_multiple);
  }
  const bool moves_heads = operation == Operation::rotate || operation == Operation::rotate_with_tables ||
                           operation == Operation::rotate_backward;
  if (moves_heads && c.layout && !holds(can.layouts, *c.layout))
    return fmt::format("offers no layout {}", to_string(*c.layout));
  if (c.encoding && !concerns(operation, *c.encoding))
    return fmt::format("{} has no operation {}", scheme_name(*c.encoding), to_string(operation));
  if (c.encoding && !holds(can.schemes, std::string(scheme_name(*c.encoding))))
    return fmt::format("offers no {}", scheme_name(*c.encoding));
  std::vector<std::int64_t> positions = c.positions;
  positions.insert(positions.end(), c.keys.begin(), c.keys.end());
  const auto [lowest, highest] = std::minmax_element(positions.begin(), positions.end());
  const bool rows_only = operation == Operation::rotate_with_tables;  // the kernel sees rows of its tables
  if (!rows_only && *highest + std::max<std::int64_t>(c.shift, 0) > can.max_position) {
    return fmt::format("positions above {} are outside its range", can.max_position);
  }
  if (!rows_only && *lowest < 0 && !can.negative_positions) return "offers no negative positions";
  if (!c.encoding) return std::nullopt;
  if (const Rope* rope = std::get_if<Rope>(&*c.encoding)) {
    const bool pairs = operation == Operation::frequencies || operation == Operation::tables ||
                       operation == Operation::angles || holds(can.pairings, rope->pairing);
    if (!pairs) return fmt::format("offers no {} pairing", to_string(rope->pairing));
  }
  if (can.declines) return can.declines(*c.encoding);
  return std::nullopt;
}

namespace {

/// Calls `serve`; throws Misbehaved, and puts things right, where it leaves this thread rounding differently.
template <class Call>
void call_watched(const std::function<void(const Call&)>& serve, const Call& call) {
  const FloatingPointMode mode;
  const auto left_alone = [&] {
    if (FloatingPointMode() == mode) return true;
    mode.restore();
    return false;
  };
  try {
    serve(call);
  } catch (...) {
    (void)left_alone();
    throw;
  }
  if (!left_alone())
    throw Misbehaved("the kernel left the rounding mode or the handling of subnormals changed");
}

/// The kernel with every call watched, in the one layout where one is asked for.
Kernel watched(Kernel kernel, const std::optional<Layout>& layout) {
  visit_operations([&](Operation, auto function) {
    auto& serve = kernel.*function;
    if (serve) serve = [right = std::move(serve)](const auto& call) { call_watched(right, call); };
  });
  if (layout) kernel.capabilities.layouts = {*layout};
  return kernel;
}

Outcome judged_by(const Law& law, const Trial& trial) {
  try {
    const Contract contract = for_output(trial.contract, trial.c.dtype);
    return law.check({trial.c, trial.operation, trial.kernel, contract, trial.truths});
  } catch (const Refused& refused) {
    return unsupported(refused.what());
  } catch (const Misbehaved& fault) {
    return {Verdict::fail, {}, fault.what()};
  } catch (const InputError&) {
    throw;
  } catch (const TimedOut& error) {
    return {Verdict::crashed, {}, error.what(), true};
  } catch (const std::exception& error) {
    return {Verdict::crashed, {}, error.what()};
  }
}

}  // namespace

Outcome run_trial(const Law& law, const Trial& trial) {
  if (!trial.kernel.unavailable.empty()) return {Verdict::unavailable, {}, trial.kernel.unavailable};
  if (std::optional<std::string> reason = why_not(trial.kernel, trial.operation, trial.c))
    return unsupported(*reason);
  const Kernel kernel = watched(trial.kernel, trial.c.layout);
  return judged_by(law, {trial.c, trial.operation, kernel, trial.contract, trial.truths});
}

Contract claimed_contract(const Kernel& kernel) {
  Contract contract = parse_contract(kernel.capabilities.contract);
  contract.bits_exact = kernel.capabilities.bits_exact;
  return contract;
}

}  // namespace sextant
