// The rows of pointwise.def as loops over elements, in device text.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshfuse/codegen/device_text.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

inline bool isCondition(const PointwiseRow& row, int32_t operand) {
  return row.types == DtypeClass::Select && operand == 0;
}

/// The types of tensors that the row takes, and what it computes them in.
inline std::vector<std::pair<PrimType, OpTypes>> typesOf(const PointwiseRow& row) {
  std::vector<std::pair<PrimType, OpTypes>> found;
  for (const PrimType type : allPrimTypes()) {
    const bool isElement = !torchNameOf(type).empty() && type != PrimType::Float4_e2m1fn_x2;
    const std::optional<OpTypes> types = applyDtypeClass(row.types, type);
    if (isElement && types) {
      found.emplace_back(type, *types);
    }
  }
  return found;
}

inline std::string kernelName(const PointwiseRow& row, PrimType type) {
  return std::string(row.name) + "_" + std::string(nameOf(type));
}

/// The function `<row>_<type>`, a loop that applies the row to tensors of `type`.
inline std::string kernelText(const PointwiseRow& row, PrimType type, OpTypes types) {
  const std::string compute(deviceComputeName(types.compute));
  std::string text = "extern \"C\" void " + kernelName(row, type) + "(" +
                     std::string(deviceTypeName(types.result)) + "* y";
  for (int32_t i = 0; i < 4; ++i) {
    text += std::string(", const ") +
            std::string(deviceTypeName(isCondition(row, i) ? PrimType::Bool : type)) + "* v" +
            std::to_string(i);
  }
  text += ", int64 n) {\n  using T = " + compute +
          ";\n#pragma omp simd\n  for (int64 i = 0; i < n; ++i) {\n";
  for (int32_t i = 0; i < row.arity; ++i) {
    const std::string index = std::to_string(i);
    if (isCondition(row, i)) {
      text += "    const bool x0 = convert<bool>(v0[i]);\n";
    } else {
      text.append("    const T x").append(index).append(" = convert<T>(v").append(index);
      text.append("[i]);\n");
    }
  }
  return text + "    y[i] = convert<" + std::string(deviceTypeName(types.result)) + ">(" +
         std::string(row.device) + ");\n  }\n}\n";
}

}  // namespace meshfuse
