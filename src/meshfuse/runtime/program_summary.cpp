#include "meshfuse/runtime/program_summary.h"

#include <vector>

#include "meshfuse/base/text.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

std::string summaryOf(const Fusion& fusion) {
  std::vector<std::string> calls;
  for (const Expr& expr : fusion.exprs()) {
    calls.emplace_back(expr.op->name);
  }
  std::vector<std::string> inputs;
  for (ValId id : fusion.inputs()) {
    const Val& val = fusion.val(id);
    inputs.push_back(val.isTensor() ? toText(val.tensor()) : std::string(nameOf(val.dtype())));
  }
  std::string text = joinText(calls, ", ") + " of " + joinText(inputs, ", ");
  for (const InputWrite& write : fusion.writes()) {
    text += ", writing " + fusion.nameOf(write.input);
  }
  return text;
}

std::string detailsOf(const Fusion& fusion) { return "\n" + print(fusion); }

std::string numbersText(std::span<const ArgView> args) {
  std::vector<std::string> numbers;
  for (const ArgView& arg : args) {
    if (!arg.isTensor()) {
      numbers.push_back(arg.scalar().toText());
    }
  }
  return numbers.empty() ? std::string() : ", called with " + joinText(numbers, ", ");
}

}  // namespace meshfuse
