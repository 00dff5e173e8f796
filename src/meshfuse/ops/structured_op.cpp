#include "meshfuse/ops/structured_op.h"

#include <algorithm>
#include <utility>

namespace meshfuse {

OpInfo structuredOp(std::string_view name, std::string_view doc, std::vector<Param> params,
                    const OpRules& rules) {
  OpInfo op;
  op.name = name;
  op.doc = doc;
  op.params = std::move(params);
  op.overloads = {{op.params}};
  op.normalize = rules.normalize;
  op.dtypes = rules.dtypes;
  op.dimMap = rules.dimMap;
  op.algebra = rules.algebra;
  op.samples = rules.samples;
  return op;
}

void takeAsValues(OpInfo& op, std::initializer_list<std::string_view> names) {
  for (Overload& overload : op.overloads) {
    for (Param& param : overload.params) {
      if (std::ranges::find(names, param.name) != names.end()) {
        param.kind = ParamKind::Value;
      }
    }
  }
}

}  // namespace meshfuse
