#include "meshfuse/frontend/python/bind_op_reference.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/frontend/op_reference.h"

namespace nb = nanobind;

namespace meshfuse {
namespace {

using Texts = std::vector<std::string>;
using Dims = std::vector<std::pair<std::string, int64_t>>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

const OpInfo& opNamed(const std::string& name) {
  const OpInfo* op = findOp(name);
  if (op == nullptr) {
    throw nb::key_error(name.c_str());
  }
  return *op;
}

std::vector<std::tuple<Texts, Pairs, Pairs>> operandTypes(const std::string& name) {
  std::vector<std::tuple<Texts, Pairs, Pairs>> groups;
  for (OperandTypes& types : operandTypesOf(opNamed(name))) {
    groups.emplace_back(std::move(types.operands), std::move(types.results),
                        std::move(types.refusals));
  }
  return groups;
}

std::vector<std::tuple<std::string, Pairs, Dims>> callShardings(const std::string& name) {
  std::vector<std::tuple<std::string, Pairs, Dims>> calls;
  for (CallShardings& call : callShardingsOf(opNamed(name))) {
    calls.emplace_back(std::move(call.call), std::move(call.rules), std::move(call.whole));
  }
  return calls;
}

}  // namespace

void bindOpReference(nb::module_& module) {
  module.def("op_operand_types", operandTypes, nb::arg("name"),
             "For the operands of each type in an operation's first sample: their names, the types "
             "they may have with the types of the results, and the types refused with the error.");
  module.def("op_call_shardings", callShardings, nb::arg("name"),
             "Sample calls of an operation: the text of each, the placements on one mesh axis that "
             "need no communication (operands, results), and the dimensions that have to be whole "
             "(operand, dimension).");
  module.def(
      "op_argument_errors", [](const std::string& name) { return argumentErrorsOf(opNamed(name)); },
      nb::arg("name"), "The errors of an operation's first sample with one argument changed.");
}

}  // namespace meshfuse
