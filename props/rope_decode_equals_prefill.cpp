// rope_decode_equals_prefill: tokens in any chunks, single ones too, come out as in one prefill and as rotate
// gives them at their positions; a cached key is the rotated key and stays what it was; the current length
// does not enter. Teeth: a decode step at its own index instead of the past length, one off, a cache written
// at the wrong row, rotated again or rewritten, a length that changes keys. Blind to faults that prefill and
// decode share. Equal bits where the contract claims them, else within the sum of both bounds; cached keys
// are copies. For dynamic and longrope a key does depend on the current length: it is held at its last value,
// and the verdict says so.
#include <algorithm>
#include <numeric>

#include "sextant/fixtures/layout.hpp"
#include "sextant/props/guarded.hpp"
#include "sextant/props/rotation_law.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

constexpr std::int64_t kMostCached = 64;  // rows

struct Chunk {
  std::int64_t first, count;  ///< tokens
};

std::vector<Chunk> single_tokens(std::int64_t tokens) {
  std::vector<Chunk> chunks;
  for (std::int64_t s = 0; s < tokens; ++s) chunks.push_back({s, 1});
  return chunks;
}
std::vector<Chunk> drawn_chunks(const Case& c) {
  std::vector<Chunk> chunks;
  for (std::int64_t s = 0; s < c.tokens(); s += chunks.back().count) {
    const std::uint64_t draw = scatter(c.seed + static_cast<std::uint64_t>(s));
    chunks.push_back({s, std::min(c.tokens() - s, 1 + static_cast<std::int64_t>(draw % 4))});
  }
  return chunks;
}

/// The tokens of a chunk, or back to their places.
Heads taken(const Heads& all, const Chunk& chunk) {
  return gathered(all, all.batch, chunk.count, all.heads,
                  [&](std::int64_t b, std::int64_t s, std::int64_t h) {
                    return HeadIndex{b, chunk.first + s, h};
                  });
}

/// A run of `sequence` from past length `base` on.
struct Run {
  Heads q, k;                ///< outputs of all steps, by token
  std::vector<float> cache;  ///< [batch, base + tokens + 1, kv_heads, head_dim]; empty without one
};

Run run_steps(const Trial& trial, std::int64_t base, const std::vector<Chunk>& chunks) {
  const Case& c = trial.c;
  Run run{make_heads(c, 0), make_heads(c, 1), {}};
  const std::int64_t capacity = base + c.tokens() + 1;
  const bool cached = capacity <= kMostCached;
  Guarded cache(cached ? static_cast<std::size_t>(c.batch * capacity * c.kv_heads * c.head_dim) : 0, c.dtype);
  struct Buffers {
    Heads heads;
    Guarded in, out;
    explicit Buffers(Heads from)
        : heads(std::move(from)), in(heads.in, heads.dtype), out(heads.in.size(), heads.dtype) {}
    Tensor view(Guarded& data) const {
      return dense_heads(data.data(), heads.dtype, Layout::bshd, heads.batch, heads.tokens, heads.heads,
                         heads.channels);
    }
  };
  std::vector<Buffers> queries, keys;
  SequenceCall call;
  const bool held = depends_on_length(*c.encoding);
  for (const Chunk& chunk : chunks) {
    queries.emplace_back(taken(run.q, chunk));
    keys.emplace_back(taken(run.k, chunk));
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::int64_t past = base + chunks[i].first;
    const std::int64_t length = held ? c.seq_len : past + chunks[i].count;
    Buffers &q = queries[i], &k = keys[i];
    call.steps.push_back(
        {past,
         Operation::rotate,
         {*c.encoding,
          length,
          Layout::bshd,
          {},
          q.view(q.in),
          k.view(k.in),
          {},
          q.view(q.out),
          k.view(k.out),
          {},
          {},
          0},
         cached ? dense(cache.data(), c.dtype, c.batch, capacity, c.kv_heads, c.head_dim) : Tensor{}});
  }
  trial.kernel.sequence(call);
  cache.check_margins("the key cache");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    for (const auto& [buffers, all] : {std::pair{&queries[i], &run.q}, std::pair{&keys[i], &run.k}}) {
      buffers->in.check_margins("an input of a step");
      buffers->in.check_unchanged("of a step");
      buffers->out.check_margins("an output of a step");
      buffers->heads.out = buffers->out.content();
      each_head(buffers->heads,
                [&, buffers = buffers, all = all](std::int64_t b, std::int64_t s, std::int64_t h) {
                  const auto to = static_cast<std::size_t>(
                      ((b * all->tokens + chunks[i].first + s) * all->heads + h) * all->channels);
                  std::copy_n(buffers->heads.out_head(b, s, h), all->channels,
                              all->out.begin() + static_cast<std::ptrdiff_t>(to));
                });
    }
  }
  if (cached) run.cache = cache.content();
  return run;
}

/// Rows of the cache: the rotated keys of the tokens, and nothing anywhere else.
void judge_cache(const Case& c, std::int64_t base, const Run& run, Measure& measure) {
  const std::int64_t capacity = base + c.tokens() + 1;
  const float poison = value_in(c.dtype, c.dtype == DType::f32 ? kPoison * 0x10001U : kPoison);
  std::size_t at = 0;
  for (std::int64_t b = 0; b < c.batch && !run.cache.empty(); ++b) {
    for (std::int64_t row = 0; row < capacity; ++row) {
      const bool written = row >= base && row < base + c.tokens();
      for (std::int64_t h = 0; h < c.kv_heads; ++h) {
        const float* key = written ? run.k.out_head(b, row - base, h) : nullptr;
        for (std::int64_t i = 0; i < c.head_dim; ++i, ++at) {
          const float want = written ? key[i] : poison;
          measure.take(same_bits(run.cache[at], want) ? 0 : INFINITY, 0,
                       {row, i, written ? "cached key" : "row that was not given", run.cache[at], want});
        }
      }
    }
  }
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  if (c.shift < 1)
    throw InputError("rope_decode_equals_prefill: shift, the past length and 1, must be at least 1");
  const std::int64_t base = c.shift - 1;
  std::vector<std::int64_t> positions(c.positions.size());
  std::iota(positions.begin(), positions.end(), base);
  const Run whole = run_steps(trial, base, {{0, c.tokens()}});
  SameRotation same(trial);
  const auto compare = [&](const Heads& got, const Heads& want) {
    each_head(got, [&](std::int64_t b, std::int64_t s, std::int64_t h) {
      same.judge(positions[static_cast<std::size_t>(s)], got.in_head(b, s, h), got.out_head(b, s, h),
                 want.out_head(b, s, h));
    });
  };
  Measure caches;
  caches.unit = trial.contract.bits_exact ? "count" : "pair_ulp";
  judge_cache(c, base, whole, caches);
  for (const std::vector<Chunk>& chunks : {single_tokens(c.tokens()), drawn_chunks(c)}) {
    const Run run = run_steps(trial, base, chunks);
    compare(run.q, whole.q);
    compare(run.k, whole.k);
    judge_cache(c, base, run, caches);
  }
  if (trial.kernel.offers(Operation::rotate)) {
    Heads q = make_heads(c, 0), k = make_heads(c, 1);
    rotate_at(trial.kernel, *c.encoding, c.seq_len, positions, q, &k);
    compare(whole.q, q);
    compare(whole.k, k);
  }
  Outcome outcome = same.outcome();
  caches += outcome.measure;
  outcome = judged(std::move(caches));
  if (depends_on_length(*c.encoding))
    outcome.reason = "keys of this encoding depend on the current length, which was held at its last value";
  return outcome;
}

}  // namespace

Law rope_decode_equals_prefill() {
  Law law;
  law.id = "rope_decode_equals_prefill";
  law.title = "tokens in any chunks come out as in one prefill, and cached keys stay the rotated keys";
  law.blind_to = "faults that prefill and decode share; states of several sequences at once";
  law.operations = {Operation::sequence};
  law.space =
      on<Rope>([](const Rope& rope, std::int64_t context, std::uint64_t draw) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(rope, context);
        space.consecutive = true;
        space.min_tokens = 2;
        space.max_shift = draw % 2 == 0 ? kMostCached / 2 : std::max<std::int64_t>(context, 2);
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
