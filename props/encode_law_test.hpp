// What the tests of laws of `encode` share: encodings of every layout, textbook kernels with planted faults.
#pragma once
#include "sextant/props/encode_law.hpp"
#include "sextant/props/law_test.hpp"
#include "sextant/reference/sinusoidal.hpp"

namespace sextant {

/// Every layout, odd widths, grids, other bases.
[[nodiscard]] inline std::vector<Sinusoidal> sinusoids() {
  std::vector<Sinusoidal> all;
  for (const char* text :
       {"sinusoidal(dim=16)", "sinusoidal(dim=7)", "sinusoidal(dim=2,base=500000)",
        "sinusoidal(dim=16,layout=A)", "sinusoidal(dim=9,layout=A)", "sinusoidal(dim=16,layout=A')",
        "sinusoidal(dim=64,base=100,layout=B)", "sinusoidal(dim=5,layout=B)", "sinusoidal(dim=12,layout=F)",
        "sinusoidal(dim=13,layout=F)", "sinusoidal(dim=16,layout=G,grid_columns=14)",
        "sinusoidal(dim=24,layout=H,grid_rows=20,grid_columns=30)"})
    all.push_back(std::get<Sinusoidal>(parse_encoding(text)));
  return all;
}
[[nodiscard]] inline Encodings sinusoidal_encodings() {
  const std::vector<Sinusoidal> all = sinusoids();
  return std::vector<Encoding>(all.begin(), all.end());
}
[[nodiscard]] inline Encodings learned_encodings() {
  return {parse_encoding("learned(rows=12,dim=5)"), parse_encoding("learned(rows=514,dim=16,offset=2)"),
          parse_encoding("learned(rows=100000,dim=300,offset=3)"), parse_encoding("learned(rows=1,dim=1)")};
}
[[nodiscard]] inline Encodings absolute_encodings() {
  Encodings all = sinusoidal_encodings();
  const Encodings learned = learned_encodings();
  all.insert(all.end(), learned.begin(), learned.end());
  return all;
}

/// The textbook kernel serving another call than it is sent: wrong(call, serve).
[[nodiscard]] inline Kernel encoding_by(
    const std::function<void(const EncodeCall&, const std::function<void(const EncodeCall&)>&)>& wrong) {
  Kernel kernel = scalar_kernel();
  kernel.encode = [right = kernel.encode, wrong](const EncodeCall& call) { wrong(call, right); };
  return kernel;
}

/// Of another sinusoid of the same width.
[[nodiscard]] inline Kernel encoding_as(const std::function<void(Sinusoidal&)>& misread) {
  return encoding_by([misread](const EncodeCall& call, const auto& serve) {
    auto scheme = std::get<Sinusoidal>(call.encoding);
    misread(scheme);
    const Encoding encoding = scheme;
    serve({encoding, call.positions, call.padding_mask, call.table, call.rows});
  });
}

[[nodiscard]] inline std::vector<std::int64_t> positions_in(const EncodeCall& call) {
  std::vector<std::int64_t> positions;
  for (std::int64_t s = 0; s < call.positions.dim(0); ++s)
    positions.push_back(call.positions.dtype == DType::i32
                            ? call.positions.as<const std::int32_t>()[call.positions.offset(s)]
                            : call.positions.as<const std::int64_t>()[call.positions.offset(s)]);
  return positions;
}

/// At other positions: place(position, index in the call, tokens of the call).
[[nodiscard]] inline Kernel encoding_at(
    const std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)>& place) {
  return encoding_by([place](const EncodeCall& call, const auto& serve) {
    std::vector<std::int64_t> positions = positions_in(call);
    const auto tokens = static_cast<std::int64_t>(positions.size());
    for (std::int64_t s = 0; s < tokens; ++s) {
      auto& position = positions[static_cast<std::size_t>(s)];
      position = place(position, s, tokens);
    }
    serve({call.encoding, dense(positions.data(), DType::i64, tokens), call.padding_mask, call.table,
           call.rows});
  });
}

/// With the columns of each row permuted: the right row's column `from(j)` stands in j.
[[nodiscard]] inline Kernel encoding_columns(
    const std::function<std::int64_t(std::int64_t column, std::int64_t dim)>& from) {
  return encoding_by([from](const EncodeCall& call, const auto& serve) {
    serve(call);
    const std::int64_t dim = call.rows.dim(1);
    for (std::int64_t s = 0; s < call.rows.dim(0); ++s) {
      std::vector<float> row;
      for (std::int64_t j = 0; j < dim; ++j) row.push_back(read_element(call.rows, call.rows.offset(s, j)));
      for (std::int64_t j = 0; j < dim; ++j)
        write_element(call.rows, call.rows.offset(s, j), row[static_cast<std::size_t>(from(j, dim))]);
    }
  });
}

/// float16, as autocast leaves positions.
[[nodiscard]] inline Kernel encoding_in_float16() {
  return encoding_at([](std::int64_t position, std::int64_t, std::int64_t) {
    const float narrow = rounded_to(DType::f16, static_cast<float>(position));
    return std::isfinite(narrow) ? static_cast<std::int64_t>(narrow) : std::int64_t{65504};
  });
}

[[nodiscard]] inline Encoding encoding_of(const char* text) { return parse_encoding(text); }

}  // namespace sextant
