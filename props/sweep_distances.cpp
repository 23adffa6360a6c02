// Sweeping biases and buckets: every distance of a range, a call for each block with one query and many keys,
// or many queries and one key, so that no position is negative.
//
// Position p of the sweep is the distance key - query; query - key for DeBERTa; the key itself in ALiBi's
// forms key and falcon. A bucket is a whole number. A bias is known as a double-double within 2^-100 of
// itself: whether it is correctly rounded stays undecided where twice its error lies within 2^-80 of an ulp,
// unless the exact bias is a double, as all products of powers of two are.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "sextant/props/alibi_bounds.hpp"
#include "sextant/props/sweep_judge.hpp"
#include "sextant/reference/alibi.hpp"
#include "sextant/reference/deberta.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reference/shaw.hpp"
#include "sextant/reference/t5.hpp"

namespace sextant {
namespace {

constexpr double kDoubt = 0x1p-80;

float nearest_float(const Wide& value) {
  const auto first = static_cast<float>(value.hi);
  float best = first;
  for (const float toward : {-INFINITY, INFINITY}) {
    const float other = std::nextafterf(first, toward);
    if (abs(Wide(other) - value).value() < abs(Wide(best) - value).value()) best = other;
  }
  return best;
}

/// What a kernel should give at a distance, for each head; of buckets there is one.
class DistanceTruth {
 public:
  DistanceTruth(const Encoding& encoding, const std::optional<Contract>& contract) : encoding_(encoding) {
    if (const auto* alibi = std::get_if<Alibi>(&encoding)) {
      exact_.emplace(parse_contract("exact-angle"), *alibi);
      if (contract) bounds_.emplace(*contract, *alibi);
    } else if (const auto* t5 = std::get_if<T5>(&encoding)) {
      buckets_ = log_buckets(*t5);
    } else if (const auto* deberta = std::get_if<Deberta>(&encoding)) {
      buckets_ = log_buckets(*deberta);
    }
  }

  [[nodiscard]] Wide at(std::int64_t head, std::int64_t distance) const {
    if (exact_) return exact_->bias(head, multiplier_at(distance));
    if (const auto* t5 = std::get_if<T5>(&encoding_))
      return static_cast<double>(bucket(*t5, buckets_, distance));
    if (std::holds_alternative<Deberta>(encoding_)) return static_cast<double>(bucket(buckets_, distance));
    return static_cast<double>(shaw_row(std::get<Shaw>(encoding_), 0, distance));
  }
  /// The value that a perfect kernel gives.
  [[nodiscard]] double nearest(const Wide& want) const { return exact_ ? nearest_float(want) : want.hi; }
  /// What an error counts in.
  [[nodiscard]] double unit(const Wide& want) const { return exact_ ? ulp_of(want.value(), kFloat32) : 1; }
  [[nodiscard]] double bound(std::int64_t head, std::int64_t distance, const Wide& want) const {
    return bounds_ ? (*bounds_)(head, multiplier_at(distance), want) : 0;
  }

 private:
  [[nodiscard]] std::int64_t multiplier_at(std::int64_t distance) const {
    const std::int64_t query = std::max<std::int64_t>(0, -distance),
                       key = std::max<std::int64_t>(0, distance);
    return multiplier(std::get<Alibi>(encoding_).form, query, key, key);
  }

  const Encoding& encoding_;
  LogBuckets buckets_;
  std::optional<AlibiBounds> exact_, bounds_;
};

void take(SweepTally& tally, const DistanceTruth& truth, const Place& at, double got, bool judged) {
  const Wide want = truth.at(at.pair, at.position);
  Errors errors;
  errors.values = 1;
  TallyWitness witness{at.position, at.pair, at.function, got, truth.nearest(want), NAN};
  const double error = std::isfinite(got) ? abs(Wide(got) - want).value() : INFINITY;
  if (std::isnan(got)) {
    errors.nan = errors.not_correctly_rounded = 1;
    tally.tally.offer_nan(witness);
  } else {
    const double ulp = error / truth.unit(want);
    if (want.lo != 0 && std::fabs(ulp - 0.5) <= kDoubt) {
      errors.undecided = 1;
    } else {
      errors.not_correctly_rounded = ulp > 0.5 ? 1 : 0;
      errors.sum = UlpSum::from_ulp(ulp);
      errors.max_ulp = witness.ulp = errors.sum.ulp();
      errors.max_abs = error;
      tally.tally.offer_worst(witness);
    }
  }
  tally.tally.all += errors;
  tally.tally.octaves[static_cast<std::size_t>(octave_of(at.position))] += errors;
  ++tally.tally.points;
  if (!judged) return;
  if (error <= truth.bound(at.pair, at.position, want)) return;
  ++tally.broken;
  if (!tally.first_broken || at < *tally.first_broken) tally.first_broken = at;
}

/// The kernel's values [heads, count] at distances first, first + 1, .., all of one sign.
void call(const SweepSubject& subject, const Encoding& encoding, std::int64_t first, std::int64_t count,
          SweepBuffers& buffers) {
  // The one position 0 stands where distances are counted from; the others are their magnitudes.
  const bool key_moves = (first >= 0) != std::holds_alternative<Deberta>(encoding);
  buffers.positions.resize(static_cast<std::size_t>(count));
  std::iota(buffers.positions.begin(), buffers.positions.end(), first);
  for (std::int64_t& position : buffers.positions) position = std::abs(position);
  std::int64_t zero = 0;
  const Tensor many = dense(buffers.positions.data(), DType::i64, count);
  const Tensor one = dense(&zero, DType::i64, 1);
  const Tensor &queries = key_moves ? one : many, &keys = key_moves ? many : one;
  const std::int64_t pairs = subject.pairs();
  buffers.exact_cos.assign(static_cast<std::size_t>(pairs * count), NAN);
  if (const auto* alibi = std::get_if<Alibi>(&encoding)) {
    buffers.x.assign(buffers.exact_cos.size(), NAN);
    subject.kernel->bias({encoding,
                          queries,
                          keys,
                          alibi->heads,
                          {},
                          dense(buffers.x.data(), DType::f32, pairs, queries.dim(0), keys.dim(0))});
    std::copy(buffers.x.begin(), buffers.x.end(), buffers.exact_cos.begin());
    return;
  }
  std::vector<std::int32_t> buckets(buffers.exact_cos.size(), std::numeric_limits<std::int32_t>::min());
  subject.kernel->buckets(
      {encoding, queries, keys, dense(buckets.data(), DType::i32, queries.dim(0), keys.dim(0))});
  std::copy(buckets.begin(), buckets.end(), buffers.exact_cos.begin());
}

}  // namespace

SweepTally sweep_distances(const SweepSubject& subject, std::int64_t begin, std::int64_t end, int threads,
                           const std::function<void(std::int64_t)>& progress) {
  const Encoding& encoding = *subject.by_distance;
  const DistanceTruth truth(encoding, subject.contract);
  const std::int64_t pairs = subject.pairs();
  const std::int64_t rows = std::max<std::int64_t>(1, kBlockValues / pairs);
  const auto visit = [&](std::int64_t first, std::int64_t count, SweepBuffers& buffers, SweepTally& tally) {
    const std::int64_t below = std::clamp<std::int64_t>(-first, 0, count);
    for (const auto& [from, some] : {std::pair{first, below}, std::pair{first + below, count - below}}) {
      if (some == 0) continue;
      call(subject, encoding, from, some, buffers);
      for (std::int64_t h = 0; h < pairs; ++h) {
        for (std::int64_t i = 0; i < some; ++i)
          take(tally, truth, {from + i, h, Function::cos},
               buffers.exact_cos[static_cast<std::size_t>(h * some + i)], subject.contract.has_value());
      }
    }
  };
  const bool alone = !subject.kernel->capabilities.concurrent;
  return over_blocks(begin, end, rows, alone ? 1 : threads, visit, [&](std::int64_t done) {
    if (progress) progress(done);
  });
}

void check_distances(const Encoding& encoding, const Range& range) {
  const auto* alibi = std::get_if<Alibi>(&encoding);
  if (alibi && alibi->form == Alibi::Form::last_key)
    throw InputError(
        "sweep: form=last_key counts from the last key of a call; sweep form=key, which has its slopes");
  const bool by_key = alibi && (alibi->form == Alibi::Form::key || alibi->form == Alibi::Form::falcon);
  if (by_key && range.begin < 0)
    throw InputError(fmt::format("--positions {}:{}: of form key and falcon they are keys, from 0 on",
                                 range.begin, range.end));
  const auto* deberta = std::get_if<Deberta>(&encoding);
  if (!deberta || !deberta->buckets) return;
  const std::int64_t farthest = log_buckets(*deberta).farthest;
  if (std::max(-range.begin, range.end - 1) > farthest)
    throw InputError(fmt::format("--positions {}:{}: {} has buckets of distances up to {}", range.begin,
                                 range.end, to_string(encoding), farthest));
}

}  // namespace sextant
