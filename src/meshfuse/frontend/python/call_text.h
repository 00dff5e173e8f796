// The text of calls: signatures of operations, and the error for arguments that fit none.
#pragma once

#include <string>

#include <Python.h>

#include "meshfuse/frontend/python/parse_arguments.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// An argument as the caller wrote it where that is short, else its type: the text of a tensor is pages long.
std::string argumentText(PyObject* object);
/// A default value as Python writes it.
std::string defaultText(const Param& param);
/// `sum(arg: TensorView, dim: int, keepdim: bool = False, dtype: DataType = DataType.Null)`
std::string signatureText(const OpInfo& op, const Overload& overload);
/// The op's signatures, one a line, and what it does.
std::string docText(const OpInfo& op);

/// Throws UserError(Type) "incompatible function arguments" with the arguments found and the calls that there are.
[[noreturn]] void refuseCall(const OpInfo& op, const PythonCall& call);

}  // namespace meshfuse
