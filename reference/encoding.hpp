// What is computed: a positional encoding as a plain value whose text form parses back to itself.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

/// Which two channels form pair i of a head with rotary width d:
/// half (i, i + d/2), as GPT-NeoX and Llama; interleaved (2i, 2i+1), as GPT-J; deinterleave reads (2i, 2i+1)
/// and writes (i, i + d/2), as DeepSeek-V3 in HuggingFace.
enum class Pairing { half, interleaved, deinterleave };

/// How a published scheme changes inv_freq and the attention factor. Numbers are the IEEE doubles of their
/// JSON text, taken as exact reals; each definition stands in reference/rope/<name>.hpp with its source.
namespace scaling {

struct None {
  bool operator==(const None&) const = default;
};

/// Position interpolation: w / factor.
struct Linear {
  double factor = 1;
  bool operator==(const Linear&) const = default;
};

/// NTK-aware base change: theta * factor^(d/(d-2)).
struct Ntk {
  double factor = 1;
  bool operator==(const Ntk&) const = default;
};

/// The NTK base change under the name that HunYuan gives it.
struct Alpha {
  double alpha = 1;
  bool operator==(const Alpha&) const = default;
};

/// NTK base that grows with the current length past max_position.
struct Dynamic {
  double factor = 1;
  std::int64_t max_position = 0;
  bool operator==(const Dynamic&) const = default;
};

/// YaRN. Without factor, the scale is the exact quotient max_position / original.
struct Yarn {
  std::optional<double> factor;
  std::int64_t original = 0;
  std::optional<std::int64_t> max_position;
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  std::optional<double> attention_factor;
  bool operator==(const Yarn&) const = default;
};

struct Llama3 {
  double factor = 1;
  double low = 1;
  double high = 4;
  std::int64_t original = 0;
  bool operator==(const Llama3&) const = default;
};

/// LongRoPE: one divisor per pair, the long list iff the current length exceeds original.
/// Without factor, the scale is the exact quotient max_position / original.
struct LongRope {
  std::int64_t original = 0;
  std::optional<double> factor;
  std::optional<std::int64_t> max_position;
  std::vector<double> short_factor;
  std::vector<double> long_factor;
  std::optional<double> attention_factor;
  bool operator==(const LongRope&) const = default;
};

/// Exponent over the whole width, zero frequency past floor(fl64(fraction * d) / 2) pairs.
struct Proportional {
  double fraction = 1;
  double factor = 1;
  bool operator==(const Proportional&) const = default;
};

}  // namespace scaling

using Scaling = std::variant<scaling::None, scaling::Linear, scaling::Ntk, scaling::Alpha, scaling::Dynamic,
                             scaling::Yarn, scaling::Llama3, scaling::LongRope, scaling::Proportional>;

/// Rotary position embedding: the first `dim` of `head_dim` channels rotate, pair i by position *
/// inv_freq[i].
struct Rope {
  std::int64_t head_dim = 0;
  std::int64_t dim = 0;
  double theta = 10000;
  Pairing pairing = Pairing::half;
  int direction = +1;  ///< -1 rotates by the negative angle (nanochat)
  Scaling scaling;

  [[nodiscard]] std::int64_t pairs() const { return dim / 2; }
  bool operator==(const Rope&) const = default;
};

/// Sinusoidal position embedding: a row of sines and cosines of m w_i, in a layout named by its letter.
struct Sinusoidal {
  /// A: base^(-i/(n-1)), sines then cosines, as fairseq and tensor2tensor; A_cos: cosines first (MusicGen).
  /// B: base^(-2i/d), ceil(d/2) sines, then cosines (Marian). C: the same interleaved, as Vaswani et al.
  /// F: base^(-i/n), sines then cosines (Florence-2).
  /// G: two axes, base^(-i/(d/4)), sines and cosines of the row, then of the column.
  /// H: two axes, interleaved, coordinates scaled to (0, 2 pi] (DETR).
  enum class Layout { A, A_cos, B, C, F, G, H };

  std::int64_t dim = 0;
  double base = 10000;
  Layout layout = Layout::C;
  std::int64_t grid_rows = 0;     ///< of H
  std::int64_t grid_columns = 0;  ///< of G and H: position m stands in row m / columns, column m % columns
  bool operator==(const Sinusoidal&) const = default;
};

/// A learned table [rows, dim]: position m reads row m + offset; a padded token reads row offset - 1.
struct Learned {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::int64_t offset = 0;
  bool operator==(const Learned&) const = default;
};

/// Shaw's relative terms: a learned vector per clip(key - query, -left, right) is added to the key, and, with
/// `values`, another to the value.
struct Shaw {
  std::int64_t left = 0;
  std::int64_t right = 0;
  bool values = true;
  bool operator==(const Shaw&) const = default;
};

/// Transformer-XL's relative terms over sinusoids of width `dim`: (q + u) k + (q + v) R_{i-j}.
struct TransformerXl {
  /// xlnet: sines then cosines, row r of R is for distance klen - r; conformer: interleaved, klen - 1 - r.
  enum class Form { xlnet, conformer };

  std::int64_t dim = 0;
  std::int64_t clamp = -1;  ///< distances are clipped to +-clamp where it is > 0
  Form form = Form::xlnet;
  bool operator==(const TransformerXl&) const = default;
};

/// T5's buckets of key - query: exact up to half of a direction's buckets, logarithmic up to max_distance.
struct T5 {
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;
  bool bidirectional = true;
  bool operator==(const T5&) const = default;
};

/// DeBERTa's logarithmic buckets of query - key (v2 and v3); without buckets the distance itself (v1).
struct Deberta {
  std::optional<std::int64_t> buckets;
  std::int64_t max_position = 512;
  bool operator==(const Deberta&) const = default;
};

/// ALiBi: a bias linear in the distance, with one slope per head.
struct Alibi {
  /// relative: m (k - q); symmetric: -m |k - q|; key: m k (BLOOM); last_key: m (k - last) (MPT); falcon: m k
  /// divided by sqrt(head_dim); sqrt: -m sqrt(q - k) for k <= q, else 0 (Step-1).
  enum class Form { relative, symmetric, key, last_key, falcon, sqrt };

  std::int64_t heads = 0;
  double bias_max = 8;
  Form form = Form::relative;
  std::int64_t head_dim = 0;  ///< of falcon
  bool operator==(const Alibi&) const = default;
};

/// No position encoding: attention tells tokens apart by its mask alone.
struct Nope {
  bool operator==(const Nope&) const = default;
};

/// A scheme with its parameters. A further scheme is a further alternative (reference/schemes.hpp).
using Encoding = std::variant<Rope, Sinusoidal, Learned, Shaw, TransformerXl, T5, Deberta, Alibi, Nope>;

inline constexpr std::int64_t kMaxHeadDim = 65536;
inline constexpr std::int64_t kMaxHeads = 65536;
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 40;

/// The two input channels of pair i, and the two output channels it is written to.
struct PairChannels {
  std::int64_t in_a, in_b, out_a, out_b;
};
[[nodiscard]] constexpr PairChannels pair_channels(Pairing pairing, std::int64_t dim, std::int64_t pair) {
  const std::int64_t half = dim / 2;
  switch (pairing) {
    case Pairing::half:
      return {pair, pair + half, pair, pair + half};
    case Pairing::interleaved:
      return {2 * pair, 2 * pair + 1, 2 * pair, 2 * pair + 1};
    case Pairing::deinterleave:
      break;
  }
  return {2 * pair, 2 * pair + 1, pair, pair + half};
}

/// Throws InputError with one line where a parameter lies outside its definition
/// (odd widths, d = 2 under an NTK base change, non-positive or non-finite factors, list lengths, ...).
void validate(const Encoding& encoding);

/// The same frequencies with attention factor 1: what bare tables hold.
[[nodiscard]] Rope without_attention_factor(Rope rope);

/// True where inv_freq depends on the current length (dynamic, longrope).
[[nodiscard]] bool depends_on_length(const Encoding& encoding);

[[nodiscard]] std::string_view scheme_name(const Encoding& encoding);  ///< "rope", "alibi", ..
[[nodiscard]] std::string_view to_string(Pairing pairing);
[[nodiscard]] std::string_view scaling_name(const Scaling& scaling);  ///< "default", "linear", "yarn", ...

/// Text form, keys in a fixed order, defaults left out: parse_encoding(to_string(e)) == e.
[[nodiscard]] std::string to_string(const Encoding& encoding);

/// Reads the text form and validates. Throws InputError with the place and what would be right.
[[nodiscard]] Encoding parse_encoding(std::string_view text);

/// True if `text` looks like a text form, "name(": used to tell it from a path or a model's name.
[[nodiscard]] bool looks_like_encoding(std::string_view text);

}  // namespace sextant
