// encode_refusals: for a position without a row a kernel declines with a message (Refused, or InputError) and
// gives no answer: just past a learned table or a grid, negative, and padding where the table has no row
// before its offset. Teeth: a row clamped to the last, wrapped from the end, read through the offset
// (position -1 with offset 2), read past the table. A learned table is given a row more before and after it,
// so that what is read in error belongs to the test. Blind to positions further out, where a kernel that does
// not check would take the process down.
#include "sextant/props/encode_law.hpp"
#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

bool refuses(const Kernel& kernel, const EncodeRequest& request) {
  try {
    (void)encoded(kernel, request);
    return false;
  } catch (const Refused& refused) {
    return *refused.what() != '\0';
  } catch (const OutOfResources&) {
    throw;
  } catch (const InputError& refused) {
    return *refused.what() != '\0';
  }
}

Outcome check(const Trial& trial) {
  const Case& c = trial.c;
  const auto* learned = std::get_if<Learned>(&*c.encoding);
  const EncodeRequest right = request_of(c);
  (void)encoded(trial.kernel, right);  // this much is answered
  const std::int64_t last =
      learned ? learned->rows - learned->offset - 1 : positions_of(std::get<Sinusoidal>(*c.encoding)).last;
  const std::size_t token = scatter(c.seed) % c.positions.size();
  Measure measure;
  measure.unit = "count";
  const auto expect_refused = [&](const EncodeRequest& request, const char* function) {
    measure.take(refuses(trial.kernel, request) ? 0 : 1, 0,
                 {request.positions[token], 0, function, static_cast<double>(request.positions[token]),
                  static_cast<double>(last)});
  };
  const auto with = [&](std::int64_t position) {
    EncodeRequest request = right;
    request.positions[token] = position;
    return request;
  };
  const Capabilities& can = trial.kernel.capabilities;
  if (last + 1 <= can.max_position) expect_refused(with(last + 1), "past the last row");
  if (can.negative_positions) {
    expect_refused(with(-1), "negative");
    if (learned) expect_refused(with(-learned->offset - 1), "before the first row");
  }
  if (learned && learned->offset == 0) {
    EncodeRequest request = right;
    request.mask.assign(c.positions.size(), 1);
    request.mask[token] = 0;
    expect_refused(request, "padding without a row");
  }
  if (measure.elements == 0) return unsupported("positions without a row lie outside what it takes");
  return judged(std::move(measure));
}

}  // namespace

Law encode_refusals() {
  Law law;
  law.id = "encode_refusals";
  law.title = "positions without a row, past a learned table or a grid or negative, are refused";
  law.blind_to = "positions further outside";
  law.operations = {Operation::encode};
  law.space = [](const std::optional<Encoding>& encoding, std::int64_t context,
                 std::uint64_t draw) -> std::optional<CaseSpace> {
    const Sinusoidal* sinusoid = encoding ? std::get_if<Sinusoidal>(&*encoding) : nullptr;
    if (sinusoid && !has_two_axes(sinusoid->layout)) return std::nullopt;  // every position has a row
    return encode_space(encoding, context, draw);
  };
  law.check = check;
  return law;
}

}  // namespace sextant
