// The element types in Python.
#include "meshfuse/frontend/python/bind_data_type.h"

#include <string>

#include <nanobind/stl/string_view.h>

#include "meshfuse/types/data_type.h"

namespace nb = nanobind;

namespace meshfuse {

void bindDataType(nb::module_& module) {
  nb::enum_<PrimType> dataType(module, "DataType",
                               "The type of a tensor's elements or of a scalar. Null: not given.");
  for (PrimType type : allPrimTypes()) {
    dataType.value(std::string(nameOf(type)).c_str(), type);
  }
  nb::list names;
  for (PrimType type : allPrimTypes()) {
    if (!torchNameOf(type).empty()) {
      names.append(nb::make_tuple(type, torchNameOf(type)));
    }
  }
  module.attr("torch_dtype_names") = nb::tuple(names);
}

}  // namespace meshfuse
