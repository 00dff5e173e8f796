#include "meshfuse/scheduling/cost_model.h"

namespace meshfuse {

std::string toText(const CostModel& costs) {
  const auto line = [](const char* name, int64_t value, const char* unit) {
    return std::string(name) + ": " + std::to_string(value) + " " + unit + "\n";
  };
  return line("level-2 cache", costs.level2Bytes, "bytes") +
         line("last-level cache", costs.lastLevelBytes, "bytes") +
         line("threads", costs.threads, "at most") +
         line("a byte", costs.workPerByte, "additions") +
         line("a launch", costs.launchWork, "additions") +
         line("a thread", costs.threadWork, "additions") +
         line("a kernel", static_cast<int64_t>(costs.maxCalls), "calls at most");
}

}  // namespace meshfuse
