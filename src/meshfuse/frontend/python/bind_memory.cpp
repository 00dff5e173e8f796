#include "meshfuse/frontend/python/bind_memory.h"

#include <cstdint>

#include "meshfuse/runtime/recycling_pool.h"

namespace nb = nanobind;

namespace meshfuse {

void bindMemory(nb::module_& module) {
  module.def(
      "memory_statistics",
      [] {
        const RecyclingPoolStatistics now = recyclingPoolStatistics();
        nb::dict result;
        result["in_use_bytes"] = now.inUseBytes;
        result["peak_in_use_bytes"] = now.peakInUseBytes;
        result["kept_bytes"] = now.keptBytes;
        result["kept_blocks"] = now.keptBlocks;
        result["reserved_bytes"] = now.reservedBytes;
        result["cap_bytes"] = now.capBytes;
        result["hits"] = now.hits;
        result["misses"] = now.misses;
        result["given_back_bytes"] = now.givenBackBytes;
        result["given_back_blocks"] = now.givenBackBlocks;
        return result;
      },
      "The numbers of the pool of recycled memory.");
  // Giving memory back takes its time.
  const nb::call_guard<nb::gil_scoped_release> withoutInterpreter;
  module.def("trim_memory", trimRecyclingPool, nb::arg("keep_bytes"), withoutInterpreter,
             "Gives kept blocks back to the system; the bytes that went.");
  module.def("set_memory_cap", setRecyclingPoolCap, nb::arg("bytes"), withoutInterpreter,
             "Sets the most bytes that are kept.");
  module.def("reset_peak_memory", resetRecyclingPoolPeak, "Starts the peak anew.");
}

}  // namespace meshfuse
