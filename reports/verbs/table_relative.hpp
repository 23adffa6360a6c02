// What `sextant table` shows of relative terms: Shaw's rows, the sinusoids of Transformer-XL.
#pragma once
#include <optional>
#include <string>

#include "sextant/reference/table.hpp"

namespace sextant {

/// The document, as text or as JSON, for the positions, digits and format of a request, whose positions are
/// distances: key - query for shaw, query - key for transformer_xl. Nothing for another scheme.
[[nodiscard]] std::optional<std::string> relative_table(const Encoding& encoding, TableRequest request,
                                                        bool json);

}  // namespace sextant
