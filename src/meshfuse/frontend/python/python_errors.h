// From C++ exceptions to Python's.
#pragma once

namespace meshfuse {

/// Sets the Python error that the exception being handled stands for; call it in `catch (...)` of an entry point that Python
/// calls directly. A UserError becomes the exception of its kind, an InternalError and everything else a RuntimeError.
void setPythonError() noexcept;

/// Makes functions bound with nanobind raise the same errors.
void registerErrorTranslator();

}  // namespace meshfuse
