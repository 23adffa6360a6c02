// alibi_slopes: every bias of ALiBi against the exact product of its head's slope and its pair's distance, in
// all forms, within the contract's bound. A float16 bias beyond the format's range must be the right
// infinity. Teeth: slopes of another schedule, of the next head, of key heads, of the next power of two
// unsorted; a wrong bias_max or base; positions rounded to 16 bits; anchors and signs. Blind to nothing that
// shows in a bias; what attention makes of it is not asked.
#include "sextant/props/alibi_bounds.hpp"
#include "sextant/props/bias_call.hpp"
#include "sextant/reference/alibi.hpp"

namespace sextant {
namespace {

/// From here on a magnitude rounds to infinity.
double overflow_of(const Format& format) { return format.largest + ulp_of(format.largest, format) / 2; }

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto& alibi = std::get<Alibi>(*c.encoding);
  const AlibiBounds bounds(trial.contract, alibi);
  const Format& output = bounds.output();
  const std::vector<float> got = kernel_bias(trial, alibi, alibi.heads);
  const std::vector<std::int64_t>& keys = c.key_positions();
  Measure measure;
  measure.unit = "ulp";
  auto at = got.begin();
  for (std::int64_t h = 0; h < alibi.heads; ++h) {
    for (const std::int64_t query : c.positions) {
      for (const std::int64_t key : keys) {
        const double bias = *at++;
        const std::int64_t n = multiplier(alibi.form, query, key, keys.back());
        const Wide want = bounds.bias(h, n);
        const double before = bounds.before_output(h, n, want), size = std::fabs(want.value());
        const Witness where{query, h, "bias", bias, want.value()};
        if (size - before >= overflow_of(output)) {
          measure.take(bias == std::copysign(INFINITY, want.value()) ? 0 : INFINITY, 0, where);
        } else if (size + before >= overflow_of(output)) {
          measure.skip();
        } else {
          measure.take(error_ulp(bias, want, output),
                       bounds.after_output(before, want) / ulp_of(want.value(), output), where);
        }
      }
    }
  }
  return judged(std::move(measure));
}

}  // namespace

Law alibi_slopes() {
  Law law;
  law.id = "alibi_slopes";
  law.title = "ALiBi: bias = slope of the head times the distance, slopes 2^(-8h/H) or the interleaved rule";
  law.blind_to = "where attention adds the bias, and with what scale";
  law.operations = {Operation::bias};
  law.space =
      on<Alibi>([](const Alibi& alibi, std::int64_t context, std::uint64_t) -> std::optional<CaseSpace> {
        CaseSpace space = space_of(alibi, context);
        space.heads = alibi.heads;
        space.head_dim = 2;
        space.negative_positions = true;
        space.keys = true;
        space.distances = {0, -1, 1, -2, -255, -256, -257, -2047, -2048, -2049, 257, 2049, -context};
        return space;
      });
  law.check = check;
  return law;
}

}  // namespace sextant
