// The operations of the language as C++ functions.
#include "meshfuse/frontend/ops.h"

#include <algorithm>

#include "meshfuse/base/error.h"

namespace meshfuse::lang {

ValueHandle callPointwise(std::string_view op, std::initializer_list<Operand> operands) {
  const auto* first =
      std::ranges::find_if(operands, [](const Operand& o) { return o.value().has_value(); });
  if (first == operands.end()) {
    throwUser(ErrorKind::Type,
              {op, "an operation needs a value of a definition", "all operands are numbers",
               "compute with numbers directly, or pass one through defineConstant"});
  }
  FusionDefinition& definition = first->value()->definition();
  std::vector<Arg> args;
  for (const Operand& operand : operands) {
    args.push_back(operand.value() ? definition.argOf(op, *operand.value())
                                   : Arg(operand.number()));
  }
  return definition.call(op, std::move(args)).front();
}

}  // namespace meshfuse::lang
