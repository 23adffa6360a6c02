// The cache of exact rows and bounds.
#include "sextant/props/truths.hpp"

#include <fmt/format.h>

namespace sextant {
namespace {

std::string key_of(const Rope& rope, std::int64_t seq_len) {
  Rope plain = rope;
  plain.head_dim = rope.dim;
  plain.pairing = Pairing::half;
  plain.direction = 1;
  const std::int64_t length = depends_on_length(rope) ? seq_len : 0;
  return fmt::format("{} {}", length, to_string(Encoding(plain)));
}

}  // namespace

ExactRows& Truths::rows(const Rope& rope, std::int64_t seq_len) {
  const std::string key = key_of(rope, seq_len);
  const auto found = rows_.find(key);
  return found != rows_.end() ? found->second : rows_.emplace(key, ExactRows(rope, seq_len)).first->second;
}

const Bounds& Truths::bounds(const Contract& contract, const Rope& rope, std::int64_t seq_len) {
  const std::string key = fmt::format("{} {}", contract.title(), key_of(rope, seq_len));
  const auto found = bounds_.find(key);
  if (found != bounds_.end()) return found->second;
  return bounds_.emplace(key, Bounds(contract, rope, seq_len)).first->second;
}

ExactRows& Truths::rows(const Sinusoidal& scheme) {
  return rows_.try_emplace(to_string(Encoding(scheme)), scheme).first->second;
}

const Bounds& Truths::bounds(const Contract& contract, const Sinusoidal& scheme) {
  const std::string key = fmt::format("{} {}", contract.title(), to_string(Encoding(scheme)));
  return bounds_.try_emplace(key, contract, scheme).first->second;
}

void Truths::forget() {
  rows_.clear();
  bounds_.clear();
}

}  // namespace sextant
