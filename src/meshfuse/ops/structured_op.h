// How a structured operation states its record.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The rules of an operation on tensors, in the order of OpInfo's columns of these names.
struct OpRules {
  void (*normalize)(const Fusion& fusion, std::vector<Arg>& args);
  std::vector<PrimType> (*dtypes)(const OpCall& call);
  DimMap (*dimMap)(const OpCall& call);
  Algebra (*algebra)(const OpCall& call);
  std::vector<OpSample> (*samples)(const OpInfo& op);
};

/// The record of an operation with one output and one call, by position or by keyword.
OpInfo structuredOp(std::string_view name, std::string_view doc, std::vector<Param> params,
                    const OpRules& rules);

/// Lets callers pass the parameters of these names as values of the definition only, not as numbers: the language's calls do
/// not take those, though the record may hold one.
void takeAsValues(OpInfo& op, std::initializer_list<std::string_view> names);

/// The algebra of an operation whose every call has the same.
template <Algebra algebra>
Algebra always(const OpCall& /*call*/) {
  return algebra;
}

}  // namespace meshfuse
