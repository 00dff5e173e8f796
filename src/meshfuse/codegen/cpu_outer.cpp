#include <algorithm>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"

namespace meshfuse {

void CpuPrinter::sumParts() {
  const std::string block = std::to_string(kOuterBlock);
  const std::string lane = integer(slots_.lane);
  line("const int64 parts = (" + integer(slots_.rows) + " + " + integer(slots_.partRows) +
       " - 1) / " + integer(slots_.partRows) + ";");
  open("if (((const int64*)p[0])[1] == 1)");
  open("for (int64 t = begin; t < end; ++t)");
  line("const int64 first = t * " + block + ";");
  line("const int64 left = " + lane + " - first;");
  line("const int64 count = left < " + block + " ? left : " + block + ";");
  for (const LoopStore& store : kernel_.outerStores) {
    const auto tensor = static_cast<size_t>(store.tensor);
    const std::string table = tableOf(store.node);
    open("");
    line("double sum[" + block + "] = {};");
    open("for (int64 part = 0; part < parts; ++part)");
    line("const auto* row = " + table + " + first;");
    line("row += part * " + lane + ";");
    line("#pragma omp simd");
    open("for (int64 j = 0; j < count; ++j)");
    line("sum[j] += row[j];");
    close();
    close();
    open("for (int64 j = 0; j < count; ++j)");
    const std::string step = kernel_.tensors[tensor].lane == Step::Unit
                                 ? ""
                                 : " * " + integer(slots_.strides[tensor].back());
    line(name('t', store.tensor) + "[(first + j)" + step + "] = convert<" +
         std::string(deviceTypeName(kernel_.tensors[tensor].type)) + ">(sum[j]);");
    close();
    close();
  }
  close();
  line("return;");
  close();
}

void CpuPrinter::openParts() {
  open("for (int64 part = begin; part < end; ++part)");
  for (NodeId id : partialFolds(kernel_)) {
    const std::string e = name('x', id);
    std::string row(deviceComputeName(graph_.node(id).compute));
    row.append("* __restrict ").append(e).append(" = ").append(tableOf(id)).append(" + part * ");
    line(row.append(integer(slots_.lane)) + ";");
    open("for (int64 j = 0; j < " + integer(slots_.lane) + "; ++j)");
    line(e + "[j] = 0;");
    close();
  }
  const std::string rows = integer(slots_.partRows);
  line("const int64 from = part * " + rows + ";");
  line("const int64 left = " + integer(slots_.rows) + " - from;");
  line("const int64 to = from + (left < " + rows + " ? left : " + rows + ");");
  open("for (int64 t = from; t < to; ++t)");
}

}  // namespace meshfuse
