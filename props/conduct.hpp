// One call of any operation, put in memory at will: what it wrote, and what it should have left alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/props/guarded.hpp"
#include "sextant/props/law.hpp"

namespace sextant {

/// What one call is given, apart from where it lies.
struct Task {
  Operation operation;
  Case c;                      ///< positions are row indices where tables are given
  std::vector<float> q, k, v;  ///< [batch, tokens, heads, head_dim]
  TableForm form = TableForm::half;
  std::int64_t rows = 0, pairs = 0;         ///< of the given tables
  std::vector<float> cos, sin;              ///< sin is empty where the form holds both in cos
  std::vector<std::vector<float>> learned;  ///< the tables of a learned scheme, dense
};
/// The inputs that a case describes, in one of the kernel's table forms. Any numbers are a legal table: those
/// given are drawn.
[[nodiscard]] Task task_of(const Trial& trial);
/// Draws the tables of a learned scheme.
void give_learned(Task& task);
/// Gives the task tables of `rows` rows for `pairs` pairs.
void give_tables(Task& task, std::int64_t rows, std::int64_t pairs);

/// Where the tensors of a call lie. Whatever it is, the results are the same.
struct Placement {
  Layout layout = Layout::bshd;
  DType positions = DType::i64;
  bool in_place = false;
  std::int64_t gap = 0;             ///< free elements after every head, token and batch of q and k
  std::int64_t shift = 0;           ///< elements by which every tensor lies past a boundary of 64 bytes
  std::uint16_t filling = kPoison;  ///< what outputs hold before, and what lies between and around tensors
};
/// A placement within the kernel's capabilities; positions are i32 or i64 by the case's seed.
[[nodiscard]] Placement usual_placement(const Kernel& kernel, const Case& c);

/// One tensor that a call wrote, q and k as [batch, tokens, heads, head_dim] in every layout.
struct Output {
  std::string name;
  std::int64_t per_token, width;  ///< elements of one token, and in one row of them
  std::vector<float> values;
};

struct Conduct {
  std::vector<Output> outputs;
  Measure inputs;   ///< elements of inputs: 1 where changed
  Measure outside;  ///< elements between and around tensors: 1 where changed
};
/// Any operation but angles, once. No v is sent to rotate.
[[nodiscard]] Conduct perform(const Kernel& kernel, const Task& task, const Placement& at);
/// What the call wrote; throws Misbehaved where it wrote anything else.
[[nodiscard]] std::vector<Output> outputs_of(const Kernel& kernel, const Task& task, const Placement& at);

/// Adds where two results differ in a bit.
void same_bits(const Task& task, const std::vector<Output>& got, const std::vector<Output>& want,
               Measure& measure);
/// As same_bits for a kernel that claims bits. Otherwise elements that differ do so within the bounds of both
/// sides; where the contract says nothing of them, they count as "no claim". For rotate, rotate_with_tables,
/// rotate_backward and tables.
void agree(const Trial& trial, const Task& task, const std::vector<Output>& got,
           const std::vector<Output>& want, Measure& measure);

/// Cases for a law on how operations behave: any encoding, any positions; a learned table is cut to a few
/// rows.
[[nodiscard]] std::optional<CaseSpace> behaviour_space(const std::optional<Encoding>& encoding,
                                                       std::int64_t context, std::uint64_t draw);

}  // namespace sextant
