// The list of schemes.
#include "sextant/props/schemes.hpp"

namespace sextant {
namespace {

Scheme rotary(std::string id, std::string title, std::string example) {
  return {std::move(id),
          std::move(title),
          std::move(example),
          {"yes", "rope_relative_offset"},
          {"yes", "rope_elementwise"},
          {"yes", "rope_decode_equals_prefill"}};
}

/// A RoPE whose frequencies change with the current length.
Scheme rotary_by_length(std::string id, std::string title, std::string example, const std::string& law) {
  Scheme scheme = rotary(std::move(id), std::move(title), std::move(example));
  scheme.relative.verdict = "at one length";
  scheme.cache_safe = {"no", law};
  return scheme;
}

}  // namespace

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> all = {
      rotary("rope",
             "rotary position embedding: half, interleaved or deinterleave pairs, partial width, either "
             "direction",
             "rope(dim=128,theta=10000)"),
      rotary("linear", "position interpolation", "rope(dim=128,theta=10000,scaling=linear(factor=4))"),
      rotary("ntk", "NTK-aware base change", "rope(dim=128,theta=10000,scaling=ntk(factor=4))"),
      rotary("alpha", "NTK base change by alpha (HunYuan)",
             "rope(dim=128,theta=10000,scaling=alpha(alpha=1000))"),
      rotary_by_length("dynamic", "NTK base that grows with the current length",
                       "rope(dim=128,theta=10000,scaling=dynamic(factor=2,max_position=2048))",
                       "dynamic_ntk"),
      rotary("yarn", "YaRN: a ramp between w/s and w, and an attention factor",
             "rope(dim=128,theta=10000,scaling=yarn(factor=4,original=4096))"),
      rotary("llama3", "Llama 3: three bands by wavelength",
             "rope(dim=128,theta=500000,scaling=llama3(factor=8,low=1,high=4,original=8192))"),
      rotary_by_length(
          "longrope", "LongRoPE: a divisor per pair, short and long lists",
          "rope(dim=4,theta=10000,scaling=longrope(original=4096,factor=32,short=[1,1.5],long=[2,64.5]))",
          "longrope_switch"),
      rotary("proportional", "exponent over the whole width, zero frequency past a fraction (Gemma 4)",
             "rope(dim=512,theta=1000000,scaling=proportional(fraction=0.25))"),
      {"sinusoidal",
       "rows of sines and cosines: layouts A, A', B to H",
       "sinusoidal(dim=512,base=10000)",
       {"between rows", "sinusoidal_shift"},
       {"yes", "sinusoidal_rows"},
       {"yes", "encode_decode_equals_prefill"}},
      {"learned",
       "a learned table of rows, with an offset",
       "learned(rows=1026,dim=768,offset=2)",
       {"no", "learned_lookup"},
       {"no", "learned_lookup"},
       {"yes", "encode_decode_equals_prefill"}},
      {"shaw",
       "learned vectors per clipped distance, added to keys and values",
       "shaw(left=64,right=8)",
       {"yes", "shaw_attention"},
       {"clipped", "shaw_clipping"},
       {"yes", "shaw_attention"}},
      {"transformer_xl",
       "relative terms over sinusoids (Transformer-XL, XLNet, conformer)",
       "transformer_xl(dim=512,clamp=-1)",
       {"yes", "transformer_xl_shift"},
       {"yes", "transformer_xl_shift"},
       {"yes", "transformer_xl_shift"}},
      {"t5",
       "a learned bias per logarithmic bucket of the distance",
       "t5(buckets=32,max_distance=128,bidirectional=true)",
       {"yes", "t5_buckets"},
       {"yes", "t5_buckets"},
       {"yes", "t5_buckets"}},
      {"deberta",
       "logarithmic buckets of the distance, both signs",
       "deberta(buckets=256,max_position=512)",
       {"yes", "deberta_buckets"},
       {"yes", "deberta_buckets"},
       {"yes", "deberta_buckets"}},
      {"alibi",
       "a bias linear in the distance, one slope per head",
       "alibi(heads=12,bias_max=8,form=relative)",
       {"after softmax", "alibi_forms"},
       {"yes", "alibi_slopes"},
       {"yes", "alibi_forms"}},
      {"nope",
       "no positions: the causal mask alone tells tokens apart",
       "nope()",
       {"no positions", "causal_mask_breaks_symmetry"},
       {"yes", "causal_mask_breaks_symmetry"},
       {"yes", "nope_layers"}},
  };
  return all;
}

}  // namespace sextant
