// What the tests of laws share: a kernel that keeps a law, a planted fault that a law catches.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "sextant/fixtures/kernels/scalar/scalar.hpp"
#include "sextant/props/law.hpp"
#include "sextant/reference/decide.hpp"
#include "sextant/reference/rope.hpp"

namespace sextant {

[[nodiscard]] inline Rope rope_of(const std::string& text) { return std::get<Rope>(parse_encoding(text)); }

/// Encodings over every scaling, small enough for many cases.
[[nodiscard]] inline std::vector<Rope> law_encodings() {
  return {
      rope_of("rope(dim=16,theta=10000)"),
      rope_of("rope(head_dim=24,dim=12,theta=500000,pairing=interleaved)"),
      rope_of("rope(dim=8,theta=1000000,pairing=deinterleave,direction=-1)"),
      rope_of("rope(dim=16,theta=10000,scaling=linear(factor=2.5))"),
      rope_of("rope(dim=16,theta=10000,scaling=ntk(factor=4))"),
      rope_of("rope(dim=16,theta=10000,scaling=alpha(alpha=1000))"),
      rope_of("rope(dim=16,theta=10000,scaling=dynamic(factor=2,max_position=2048))"),
      rope_of("rope(dim=64,theta=150000,scaling=yarn(factor=32,original=4096,truncate=false))"),
      rope_of("rope(dim=64,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))"),
      rope_of(
          "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5],long=[2,64.5]))"),
      rope_of("rope(dim=16,theta=10000,scaling=proportional(fraction=0.5))"),
  };
}

/// Encodings of any schemes, or of RoPE alone.
struct Encodings : std::vector<Encoding> {
  Encodings() = default;
  Encodings(std::initializer_list<Encoding> list) : vector(list) {}
  Encodings(const std::vector<Rope>& ropes) : vector(ropes.begin(), ropes.end()) {}
  Encodings(std::vector<Encoding> list) : vector(std::move(list)) {}
};

/// The outcomes of `cases` draws of a law on a kernel, over the encodings of which it speaks, merged; in the
/// first dtype that the kernel offers, or in all of them by turns.
struct Trials {
  int passed = 0, failed = 0, other = 0;
  Measure measure;
};
enum class Dtypes { first, all };
[[nodiscard]] inline Trials run_trials(const Law& law, Operation operation, const Kernel& kernel,
                                       const Encodings& encodings, int cases = 20,
                                       std::optional<Contract> contract = std::nullopt,
                                       Dtypes dtypes = Dtypes::first) {
  Trials trials;
  Truths truths;
  const Contract judged_by = contract.value_or(claimed_contract(kernel));
  for (std::size_t e = 0; e < std::max<std::size_t>(encodings.size(), 1); ++e) {
    for (int i = 0; i < cases; ++i) {
      const auto draw = static_cast<std::uint64_t>(i);
      const std::optional<CaseSpace> space =
          law.space(encodings.empty() ? std::nullopt : std::optional(encodings[e]), 4096, draw);
      if (!space || (space->encoding && !concerns(operation, *space->encoding))) continue;
      Case c = draw_case(*space, 42 + e, draw);
      const std::vector<DType> offered = dtypes_of(kernel, operation);
      const std::vector<DType>& tables = kernel.capabilities.tables;
      c.dtype = offered[dtypes == Dtypes::all ? draw % offered.size() : 0];
      c.table = tables[dtypes == Dtypes::all ? draw / 2 % tables.size() : 0];
      const Outcome outcome = run_trial(law, {c, operation, kernel, judged_by, truths});
      trials.measure += outcome.measure;
      // A case whose every element lies beyond the contract's claim neither passes nor fails.
      const bool empty = outcome.verdict == Verdict::mistrusted && outcome.measure.no_claim > 0;
      ++(outcome.verdict == Verdict::pass   ? trials.passed
         : outcome.verdict == Verdict::fail ? trials.failed
                                            : trials.other);
      if (outcome.verdict != Verdict::pass && outcome.verdict != Verdict::fail && !empty) {
        ADD_FAILURE() << law.id << ": " << to_string(outcome.verdict) << ": " << outcome.reason << "\n"
                      << to_string(c);
      }
    }
  }
  return trials;
}

/// The law speaks, and the textbook kernel keeps it on every operation.
inline void expect_kept(const Law& law, const Encodings& encodings = law_encodings()) {
  for (const Operation operation : law.operations) {
    const auto concerned = [&](const Encoding& encoding) { return concerns(operation, encoding); };
    if (!encodings.empty() && std::none_of(encodings.begin(), encodings.end(), concerned)) continue;
    const Trials trials =
        run_trials(law, operation, scalar_kernel(), encodings, 40, std::nullopt, Dtypes::all);
    EXPECT_EQ(trials.failed, 0) << law.id << " on " << to_string(operation) << ", share "
                                << trials.measure.share();
    EXPECT_GT(trials.passed, 10) << law.id;
  }
}

/// A planted fault makes the law fail on an operation.
inline void expect_caught(const Law& law, Operation operation, const Kernel& faulty,
                          const Encodings& encodings, const char* fault) {
  EXPECT_GT(run_trials(law, operation, faulty, encodings, 20).failed, 0)
      << law.id << " does not catch: " << fault;
}

/// The textbook kernel computing another encoding than it is asked for.
[[nodiscard]] inline Kernel misreading(const std::function<Rope(Rope)>& misread) {
  Kernel kernel = scalar_kernel();
  const Kernel right = kernel;
  const auto wrong = [misread](const Encoding& encoding) {
    return Encoding(misread(std::get<Rope>(encoding)));
  };
  kernel.frequencies = [=](const FrequenciesCall& call) {
    const Encoding encoding = wrong(call.encoding);
    right.frequencies({encoding, call.seq_len, call.inv_freq, call.attention_factor});
  };
  kernel.tables = [=](const TablesCall& call) {
    const Encoding encoding = wrong(call.encoding);
    right.tables({encoding, call.seq_len, call.positions, call.form, call.cos, call.sin});
  };
  kernel.rotate = [=](const RotateCall& call) {
    const Encoding encoding = wrong(call.encoding);
    right.rotate({encoding, call.seq_len, call.layout, call.positions, call.q, call.k, call.v, call.q_out,
                  call.k_out, call.v_out, call.cu_seqlens, call.layer});
  };
  return kernel;
}

/// The textbook kernel rotating q and k at other positions than it is given.
[[nodiscard]] inline Kernel misplacing(const std::function<std::int64_t(std::int64_t)>& q_position,
                                       const std::function<std::int64_t(std::int64_t)>& k_position) {
  Kernel kernel = scalar_kernel();
  const Kernel right = kernel;
  kernel.rotate = [=](const RotateCall& call) {
    const auto moved = [&](const auto& place, const Tensor& x, const Tensor& y) {
      std::vector<std::int64_t> positions;
      for (std::int64_t s = 0; s < call.positions.dim(0); ++s) {
        positions.push_back(place(call.positions.as<const std::int64_t>()[call.positions.offset(s)]));
      }
      right.rotate({call.encoding,
                    call.seq_len,
                    call.layout,
                    dense(positions.data(), DType::i64, positions.size()),
                    x,
                    {},
                    {},
                    y,
                    {},
                    {},
                    {},
                    0});
    };
    moved(q_position, call.q, call.q_out);
    if (call.k) moved(k_position, call.k, call.k_out);
  };
  return kernel;
}

/// The textbook kernel with the frequencies it reports changed in place.
[[nodiscard]] inline Kernel with_frequencies(const std::function<void(const Rope&, float*, float*)>& change) {
  Kernel kernel = scalar_kernel();
  const Kernel right = kernel;
  kernel.frequencies = [=](const FrequenciesCall& call) {
    right.frequencies(call);
    change(std::get<Rope>(call.encoding), call.inv_freq.as<float>(), call.attention_factor.as<float>());
  };
  return kernel;
}

/// True where two enclosures meet and are narrower than 1e-30 of `scale`.
[[nodiscard]] inline bool meet(const Interval& a, const Interval& b, double scale = 1) {
  const Mpfr width = Mpfr(upper(a) - lower(a)) + Mpfr(upper(b) - lower(b));
  return lower(a) <= upper(b) && lower(b) <= upper(a) && width < Mpfr(scale * 1e-30);
}

}  // namespace sextant
