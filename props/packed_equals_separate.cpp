// packed_equals_separate: documents packed into one row of tokens, under a block-diagonal mask by cu_seqlens,
// give what each gives alone, empty documents and those of one token included. (That their positions restart
// is rope_explicit_positions.) Teeth: documents that leak into each other, ends one off, an end ignored, a
// causal mask instead. Blind to what packed and separate share. Slack: both sides lie within the bound of one
// exact value (contract.cpp): twice the bound.
#include <algorithm>
#include <numeric>

#include "sextant/props/attention_law.hpp"
#include "sextant/reference/scatter.hpp"

namespace sextant {
namespace {

/// Where documents begin, and the end: drawn, possibly empty ones among them.
std::vector<std::int32_t> drawn_documents(const Case& c) {
  std::vector<std::int32_t> starts = {0};
  const std::uint64_t documents = 2 + scatter(c.seed) % 3;
  for (std::uint64_t d = 1; d < documents; ++d)
    starts.push_back(
        static_cast<std::int32_t>(scatter(c.seed + d) % static_cast<std::uint64_t>(c.tokens() + 1)));
  starts.push_back(static_cast<std::int32_t>(c.tokens()));
  std::sort(starts.begin(), starts.end());
  return starts;
}

Heads document(const Heads& x, std::int64_t first, std::int64_t last) {
  Heads part = x;
  part.tokens = last - first;
  part.in.clear();
  for (std::int64_t b = 0; b < x.batch; ++b) {
    const float* from = x.in.data() + (b * x.tokens + first) * x.heads * x.channels;
    part.in.insert(part.in.end(), from, from + part.tokens * x.heads * x.channels);
  }
  part.out.assign(part.in.size(), NAN);
  return part;
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  Heads q = make_heads(c, 0);
  const Heads k = make_heads(c, 1), v = make_heads(c, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  const std::vector<std::int32_t> starts = drawn_documents(c);
  attend(trial.kernel, q, k, v, scale, Mask::block_diagonal, starts);
  Measure measure;
  measure.unit = "abs";
  for (std::size_t d = 0; d + 1 < starts.size(); ++d) {
    const std::int64_t first = starts[d], last = starts[d + 1];
    if (first == last) continue;
    Heads alone = document(q, first, last);
    const Heads keys = document(k, first, last), values = document(v, first, last);
    attend(trial.kernel, alone, keys, values, scale, Mask::none);
    std::vector<std::int64_t> seen(static_cast<std::size_t>(last - first));
    std::iota(seen.begin(), seen.end(), 0);
    compare_out(
        measure, q, alone, keys, values, scale,
        [&](std::int64_t s) { return s >= first && s < last ? s - first : -1; },
        [&](std::int64_t) { return seen; });
  }
  return judged(std::move(measure));
}

}  // namespace

Law packed_equals_separate() {
  Law law;
  law.id = "packed_equals_separate";
  law.title = "packed documents under a block-diagonal mask give each document's own result";
  law.blind_to = "what packed and separate documents share";
  law.operations = {Operation::attention};
  law.needs_encoding = false;
  law.space = [](const std::optional<Encoding>&, std::int64_t, std::uint64_t) -> std::optional<CaseSpace> {
    CaseSpace space;
    space.min_tokens = 2;
    space.consecutive = true;
    space.bounded_inputs = true;
    return space;
  };
  law.check = check;
  return law;
}

}  // namespace sextant
