// Shared argument readers.
#include "sextant/reports/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sextant/fixtures/faults/conduct.hpp"
#include "sextant/fixtures/kernels/cuda/cuda.hpp"
#include "sextant/fixtures/kernels/named.hpp"
#include "sextant/fixtures/worker/worker.hpp"
#include "sextant/reference/error.hpp"
#include "sextant/reports/output.hpp"

namespace sextant {
namespace {

std::int64_t position_in(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("--positions {}: \"{}\" is no position; give 0,1,17 or A:B",
                                 whole.substr(0, 80), text.substr(0, 40)));
  }
  if (value < -kMaxPosition || value > kMaxPosition) {
    throw InputError(
        fmt::format("--positions {}: {} is out of range; |position| <= 2^40", whole.substr(0, 80), value));
  }
  return value;
}

}  // namespace

std::vector<std::int64_t> parse_positions(const std::string& text, std::int64_t limit) {
  std::vector<std::int64_t> positions;
  const auto check_count = [&](std::int64_t more) {
    if (more > limit - static_cast<std::int64_t>(positions.size())) {
      throw InputError(fmt::format("--positions {}: more than {} positions; give a shorter range",
                                   text.substr(0, 80), limit));
    }
  };
  std::string_view rest = text;
  bool more = true;
  while (more) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) {
      check_count(1);
      positions.push_back(position_in(item, text));
      continue;
    }
    const std::int64_t first = position_in(item.substr(0, colon), text);
    const std::int64_t last = position_in(item.substr(colon + 1), text);
    if (first >= last) {
      throw InputError(fmt::format("--positions {}: the range {} is empty or reversed; A:B needs A < B",
                                   text.substr(0, 80), item));
    }
    check_count(last - first);
    for (std::int64_t position = first; position < last; ++position) positions.push_back(position);
  }
  return positions;
}

Range parse_range(const std::string& text) {
  constexpr std::int64_t kMaxSweep = std::int64_t{1} << 36;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw InputError(fmt::format("--positions {}: a range A:B is needed (B excluded)", text.substr(0, 80)));
  const std::int64_t begin = position_in(text.substr(0, colon), text);
  // B is excluded, and may lie one past the largest position.
  const std::string last = text.substr(colon + 1);
  const std::int64_t end =
      last == std::to_string(kMaxPosition + 1) ? kMaxPosition + 1 : position_in(last, text);
  if (begin >= end)
    throw InputError(
        fmt::format("--positions {}: the range is empty or reversed; A:B needs A < B", text.substr(0, 80)));
  if (end - begin > kMaxSweep)
    throw InputError(
        fmt::format("--positions {}: over 2^36 positions; sweep shorter ranges", text.substr(0, 80)));
  return {begin, end};
}

void check_sweepable(const Kernel& kernel, Operation operation, const Encoding& encoding,
                     const Range& range) {
  if (!kernel.unavailable.empty())
    throw Unavailable(fmt::format("kernel {} is unavailable: {}", kernel.name, kernel.unavailable));
  if (!kernel.offers(operation))
    throw InputError(fmt::format("kernel {} offers no {}", kernel.name, to_string(operation)));
  const auto& schemes = kernel.capabilities.schemes;
  if (std::find(schemes.begin(), schemes.end(), scheme_name(encoding)) == schemes.end())
    throw InputError(fmt::format("kernel {} offers no {}", kernel.name, scheme_name(encoding)));
  if (range.end - 1 > kernel.capabilities.max_position) {
    throw InputError(
        fmt::format("kernel {} takes positions up to {}", kernel.name, kernel.capabilities.max_position));
  }
  if (range.begin < 0 && !kernel.capabilities.negative_positions)
    throw InputError(fmt::format("kernel {} takes no negative positions", kernel.name));
  const auto& pairings = kernel.capabilities.pairings;
  const Rope* rope = std::get_if<Rope>(&encoding);
  if (operation == Operation::rotate && rope &&
      std::find(pairings.begin(), pairings.end(), rope->pairing) == pairings.end()) {
    throw InputError(fmt::format("kernel {} offers no {} pairing", kernel.name, to_string(rope->pairing)));
  }
  if (kernel.capabilities.declines) {
    if (const auto reason = kernel.capabilities.declines(encoding))
      throw InputError(fmt::format("kernel {}: {}", kernel.name, *reason));
  }
}

const Format& parse_format(const std::string& name) {
  for (const Format* format : {&kFloat32, &kFloat64, &kFloat16, &kBFloat16}) {
    if (format->name == name) return *format;
  }
  throw InputError(fmt::format("unknown dtype \"{}\": f32, f64, f16 or bf16", name.substr(0, 40)));
}

bool runs_in_worker(const Kernel& kernel) {
  return is_fault(kernel) || is_foreign(kernel) || (is_on_device(kernel) && kernel.unavailable.empty());
}

Kernel find_kernel(const std::string& name, std::optional<std::chrono::milliseconds> time_limit) {
  const Kernel kernel = named_kernel(name);
  if (!runs_in_worker(kernel)) return kernel;
  WorkerOptions options;
  if (is_fault(kernel)) options.time_limit = std::chrono::seconds(1);
  // A GPU maps more address space than any limit meant for memory.
  if (is_on_device(kernel)) options.memory_limit = std::uint64_t{1} << 56;
  options.time_limit = time_limit.value_or(options.time_limit);
  return in_worker(kernel, options);
}

const Rope& rope_for(const char* verb, const Encoding& encoding) {
  if (const Rope* rope = std::get_if<Rope>(&encoding)) return *rope;
  throw InputError(fmt::format("{} takes rope encodings, not {}", verb, to_string(encoding)));
}

std::int64_t context_of(const Encoding& encoding, std::int64_t declared) {
  if (const auto* learned = std::get_if<Learned>(&encoding)) return learned->rows - learned->offset;
  if (declared > 0) return declared;
  if (!std::holds_alternative<Rope>(encoding)) return 4096;
  const auto& rope = std::get<Rope>(encoding);
  const auto stretched = [](std::int64_t original, double factor) {
    return static_cast<std::int64_t>(std::min(static_cast<double>(original) * std::max(factor, 1.0), 0x1p30));
  };
  if (const auto* yarn = std::get_if<scaling::Yarn>(&rope.scaling)) {
    return yarn->max_position.value_or(stretched(yarn->original, yarn->factor.value_or(1)));
  }
  if (const auto* longrope = std::get_if<scaling::LongRope>(&rope.scaling)) {
    return longrope->max_position.value_or(stretched(longrope->original, longrope->factor.value_or(1)));
  }
  if (const auto* llama3 = std::get_if<scaling::Llama3>(&rope.scaling))
    return stretched(llama3->original, llama3->factor);
  if (const auto* dynamic = std::get_if<scaling::Dynamic>(&rope.scaling))
    return stretched(dynamic->max_position, dynamic->factor);
  return 4096;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) complain(fmt::format("warning: {}\n", printable(warning)));
}

}  // namespace sextant
