// What the reference page says of an operation: found by asking the op table, not written down a second time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The element types that some operands of an op take together, the others as in the op's first sample.
struct OperandTypes {
  std::vector<std::string> operands;                          // parameter names
  std::vector<std::pair<std::string, std::string>> results;   // element type, types of the results
  std::vector<std::pair<std::string, std::string>> refusals;  // element type, error text
};

/// One group for the operands of each type that the op's first sample has. Here and below: empty for an op without samples,
/// which gives numbers alone.
std::vector<OperandTypes> operandTypesOf(const OpInfo& op);

/// How a call runs on a mesh axis without communication.
struct CallShardings {
  std::string call;  // as ir/print.h prints it, operands first
  std::vector<std::pair<std::string, std::string>> rules;  // placements of operands, of results
  /// Operands and their dimensions that the op needs whole. Equal shards are gathered, others refused.
  std::vector<std::pair<std::string, int64_t>> whole;
};

/// Of each sample whose rules no sample before has.
std::vector<CallShardings> callShardingsOf(const OpInfo& op);

/// The distinct error texts of the op's samples with one thing changed: a dimension of a tensor operand longer by one, an integer
/// argument out of range, or another number of dimensions.
std::vector<std::string> argumentErrorsOf(const OpInfo& op);

}  // namespace meshfuse
