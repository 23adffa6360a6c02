#include "sextant/props/encode_law_test.hpp"

namespace sextant {
namespace {

TEST(encode_padding, truth) {
  // fairseq's ids, padding_idx + 1 + k for the k-th token and padding_idx for padding, are the rows of a
  // learned table with offset padding_idx + 1: tokens [1,1,1,pad,pad] read [2,3,4,1,1] for padding index 1.
  const Learned scheme{514, 4, 2};
  const LearnedTable table(scheme, 1, DType::f32);
  std::vector<std::int64_t> positions{0, 1, 2, 0, 0};
  const std::vector<std::int64_t> ids{2, 3, 4, 1, 1};
  const Encoding encoding = scheme;
  EncodeRequest request{encoding, positions, DType::f32, &table, {1, 1, 1, 0, 0}};
  const std::vector<float> rows = encoded(scalar_kernel(), request);
  for (std::size_t s = 0; s < ids.size(); ++s)
    for (std::int64_t j = 0; j < scheme.dim; ++j)
      EXPECT_TRUE(same_bits_of(rows[s * 4 + static_cast<std::size_t>(j)], table.at(ids[s], j)));
}

TEST(encode_padding, kernel) { expect_kept(encode_padding(), absolute_encodings()); }

TEST(encode_padding, teeth) {
  const Law law = encode_padding();
  const auto masked =
      [](const std::function<std::int32_t(const std::vector<std::int32_t>&, std::size_t)>& wrong) {
        return encoding_by([wrong](const EncodeCall& call, const auto& serve) {
          if (!call.padding_mask) return serve(call);
          std::vector<std::int32_t> right, mask;
          for (std::int64_t s = 0; s < call.padding_mask.dim(0); ++s)
            right.push_back(call.padding_mask.as<const std::int32_t>()[call.padding_mask.offset(s)]);
          for (std::size_t s = 0; s < right.size(); ++s) mask.push_back(wrong(right, s));
          serve({call.encoding, call.positions, dense(mask.data(), DType::i32, mask.size()), call.table,
                 call.rows});
        });
      };
  for (const Encoding& encoding :
       {encoding_of("sinusoidal(dim=16)"), encoding_of("learned(rows=514,dim=16,offset=2)")}) {
    const auto caught = [&](const Kernel& kernel, const char* fault) {
      expect_caught(law, Operation::encode, kernel, {encoding}, fault);
    };
    caught(masked([](const auto&, std::size_t) { return 1; }), "a mask ignored");
    caught(masked([](const auto& mask, std::size_t s) { return 1 - mask[s]; }), "a mask inverted");
    caught(masked([](const auto& mask, std::size_t s) { return mask[(s + 1) % mask.size()]; }),
           "a neighbour's mask");
    caught(encoding_by([](const EncodeCall& call, const auto& serve) {
             // Positions count tokens without padding.
             std::vector<std::int64_t> positions = positions_in(call);
             std::int64_t pads = 0;
             for (std::size_t s = 0; call.padding_mask && s < positions.size(); ++s) {
               const bool pad = call.padding_mask.as<const std::int32_t>()[s] == 0;
               positions[s] = std::max<std::int64_t>(positions[s] - pads, 0);
               pads += pad ? 1 : 0;
             }
             serve({call.encoding, dense(positions.data(), DType::i64, positions.size()), call.padding_mask,
                    call.table, call.rows});
           }),
           "rows shifted by the padding before them");
  }
  expect_caught(law, Operation::encode, encoding_by([](const EncodeCall& call, const auto& serve) {
                  serve(call);
                  for (std::int64_t s = 0; call.padding_mask && s < call.rows.dim(0); ++s) {
                    if (call.padding_mask.as<const std::int32_t>()[s] != 0) continue;
                    for (std::int64_t j = 0; j < call.rows.dim(1); ++j)
                      write_element(call.rows, call.rows.offset(s, j),
                                    read_element(call.table, call.table.offset(0, j)));
                  }
                }),
                {encoding_of("learned(rows=514,dim=16,offset=2)")}, "padding reads row 0");
}

}  // namespace
}  // namespace sextant
