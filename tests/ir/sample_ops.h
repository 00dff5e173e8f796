// Operations for tests of the IR, which knows no real ones.
#pragma once

#include <string_view>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/ir/parse.h"

namespace meshfuse::testing {

inline const OpDescriptor kNegate{"negate", {{"a", ParamKind::Tensor}}, {}, 1};
inline const OpDescriptor kMix{
    "mix", {{"a", ParamKind::Operand}, {"b", ParamKind::Operand}}, {}, 1};
inline const OpDescriptor kHalves{"halves", {{"a", ParamKind::Tensor}}, {}, 2};
/// Every kind of parameter.
inline const OpDescriptor kAll{"all_kinds",
                               {{"a", ParamKind::Tensor},
                                {"b", ParamKind::Operand, true},
                                {"count", ParamKind::Int, true},
                                {"dims", ParamKind::Ints, true},
                                {"flag", ParamKind::Bool, true},
                                {"dtype", ParamKind::DataType, true}},
                               {},
                               1};

inline const OpDescriptor* findSampleOp(std::string_view name) {
  for (const OpDescriptor* op : {&kNegate, &kMix, &kHalves, &kAll}) {
    if (op->name == name) {
      return op;
    }
  }
  return nullptr;
}

}  // namespace meshfuse::testing
