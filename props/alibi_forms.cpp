// alibi_forms: a row constant vanishes in softmax, so under a causal mask the forms relative, symmetric, key
// and last_key give the same weights, at prefill and at decode, wherever the positions begin; and without a
// mask the symmetric bias is minus the magnitude of the relative one. Teeth: keys counted from the column,
// queries from row 0, a last key that is the first, one form's sign, slope or anchor. Blind to a fault that
// all forms share, and to row constants where there is a mask.
//
// Weights p_j of a row are proportional to exp of the biases. Biases within b_j of theirs give weights whose
// logarithm is off by at most b_j + M, M = ln sum p_i exp(b_i): so |p~_j - p_j| <= p_j expm1(b_j + M), and
// two forms differ by at most the sum of both. Here weights are formed in double: differences of biases, exp
// within an ulp, a sum of n and a quotient err by less than (|d_j| + n + 6) 2^-53 of p_j, and its products
// by less than as much again.
#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/props/alibi_bounds.hpp"
#include "sextant/props/bias_call.hpp"
#include "sextant/reference/alibi.hpp"

namespace sextant {
namespace {

using Form = Alibi::Form;

/// Softmax of a row of biases, and what double arithmetic may have cost each weight.
struct Weights {
  std::vector<double> p, slack;
};
Weights softmax_of(const std::vector<double>& biases) {
  Weights weights;
  const double largest = *std::max_element(biases.begin(), biases.end());
  double sum = 0;
  for (const double bias : biases) sum += weights.p.emplace_back(std::exp(bias - largest));
  for (std::size_t j = 0; j < biases.size(); ++j) {
    const double p = weights.p[j] /= sum;
    const double roundings = largest - biases[j] + static_cast<double>(biases.size()) + 6;
    weights.slack.push_back(p * roundings * 0x1p-52 + 0x1p-1000);
  }
  return weights;
}

/// Of one form: its biases, and the bound on each.
struct Row {
  std::vector<double> biases, errors;
};

/// |p~_j - p_j| for all j of a row whose exact weights are given.
std::vector<double> bounds_of(const Row& row, const Weights& exact) {
  double sum = 0;
  for (std::size_t j = 0; j < row.errors.size(); ++j) sum += exact.p[j] * std::exp(row.errors[j]);
  const double common = std::max(std::log(sum), 0.0) + 0x1p-48;  // n roundings of numbers near 1
  std::vector<double> bounds;
  for (std::size_t j = 0; j < row.errors.size(); ++j) {
    const double from_errors = row.errors[j] > 0 || sum > 1 ? std::expm1(row.errors[j] + common) : 0;
    bounds.push_back(exact.p[j] * from_errors + 2 * exact.slack[j]);
  }
  return bounds;
}

/// All biases of one form as a kernel gives them.
struct Given {
  Alibi alibi;
  AlibiBounds bounds;
  std::vector<float> biases;
};

class Comparison {
 public:
  Comparison(const Trial& trial, std::int64_t shift) : c_(trial.c), shift_(shift) { measure_.unit = "abs"; }

  /// The row of a head and query over some keys.
  [[nodiscard]] Row row(const Given& given, std::int64_t head, std::int64_t i,
                        const std::vector<std::int64_t>& visible) const {
    Row row;
    const std::int64_t query = c_.positions[static_cast<std::size_t>(i)] + shift_;
    const std::int64_t last = c_.key_positions().back() + shift_;
    for (const std::int64_t j : visible) {
      const std::int64_t key = c_.key_positions()[static_cast<std::size_t>(j)] + shift_;
      const std::int64_t n = multiplier(given.alibi.form, query, key, last);
      const Wide want = given.bounds.bias(head, n);
      const double error = given.bounds(head, n, want);
      const bool fits = std::fabs(want.value()) + error < given.bounds.output().largest;
      row.biases.push_back(
          given.biases[static_cast<std::size_t>((head * c_.tokens() + i) * c_.key_tokens() + j)]);
      row.errors.push_back(fits ? error : std::numeric_limits<double>::infinity());
    }
    return row;
  }

  /// Two rows that mean the same weights, those of the exact biases.
  void judge(const Row& a, const Row& b, const std::vector<double>& exact, std::int64_t head,
             std::int64_t query, const char* function) {
    const Weights truth = softmax_of(exact), p = softmax_of(a.biases), q = softmax_of(b.biases);
    const std::vector<double> bound_a = bounds_of(a, truth), bound_b = bounds_of(b, truth);
    for (std::size_t j = 0; j < exact.size(); ++j) {
      const double bound = bound_a[j] + bound_b[j];
      if (!(bound < kNoClaim))
        measure_.skip();
      else
        measure_.take(std::fabs(p.p[j] - q.p[j]), bound, {query, head, function, p.p[j], q.p[j]});
    }
  }

  [[nodiscard]] Outcome outcome() { return judged(std::move(measure_)); }

 private:
  const Case& c_;
  std::int64_t shift_;
  Measure measure_;
};

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& own = std::get<Alibi>(*c.encoding);
  std::vector<Given> forms;
  for (const Form form : {Form::relative, Form::symmetric, Form::key, Form::last_key}) {
    const Alibi alibi{own.heads, own.bias_max, form, 0};
    const auto& declines = trial.kernel.capabilities.declines;
    if (declines && declines(alibi)) continue;
    forms.push_back(
        {alibi, AlibiBounds(trial.contract, alibi), kernel_bias(trial, alibi, alibi.heads, c.shift)});
  }
  if (forms.size() < 2) return unsupported("offers one form of ALiBi alone: there is nothing to compare");
  Comparison comparison(trial, c.shift);
  const auto key_at = [&](std::int64_t j) { return c.key_positions()[static_cast<std::size_t>(j)]; };
  for (std::int64_t h = 0; h < own.heads; ++h) {
    for (std::int64_t i = 0; i < c.tokens(); ++i) {
      const std::int64_t query = c.positions[static_cast<std::size_t>(i)];
      std::vector<std::int64_t> all, visible;
      for (std::int64_t j = 0; j < c.key_tokens(); ++j) {
        all.push_back(j);
        if (key_at(j) <= query) visible.push_back(j);
      }
      const auto exact = [&](const std::vector<std::int64_t>& keys) {
        std::vector<double> biases;
        for (const std::int64_t j : keys)
          biases.push_back(forms[0].bounds.bias(h, multiplier(Form::symmetric, query, key_at(j), 0)).value());
        return biases;
      };
      const Row first = comparison.row(forms[0], h, i, visible);
      for (std::size_t f = 1; f < forms.size() && !visible.empty(); ++f)
        comparison.judge(first, comparison.row(forms[f], h, i, visible), exact(visible), h, query, "weight");
      if (forms[0].alibi.form != Form::relative || forms[1].alibi.form != Form::symmetric) continue;
      Row folded = comparison.row(forms[0], h, i, all);
      for (double& bias : folded.biases) bias = -std::fabs(bias);
      comparison.judge(folded, comparison.row(forms[1], h, i, all), exact(all), h, query,
                       "weight without mask");
    }
  }
  return comparison.outcome();
}

}  // namespace

Law alibi_forms() {
  Law law;
  law.id = "alibi_forms";
  law.title = "ALiBi's forms by distance, by key and by last key agree after softmax under a causal mask";
  law.blind_to = "faults that all forms share, as a wrong slope";
  law.operations = {Operation::bias};
  law.space =
      on<Alibi>([](const Alibi& alibi, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        if (alibi.form == Form::falcon || alibi.form == Form::sqrt) return std::nullopt;
        CaseSpace space = space_of(alibi, context);
        space.heads = alibi.heads;
        space.head_dim = 2;
        space.keys = true;
        space.consecutive = true;
        if (draw % 2 == 1) space.max_shift = context;
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
