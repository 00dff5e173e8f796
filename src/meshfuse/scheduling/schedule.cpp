#include "meshfuse/scheduling/schedule.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

/// What the order of loops follows: the largest tensor that is written, or read along reduced loops.
const NestAccess* modelOf(const Nest& nest, bool ofReduced) {
  const NestAccess* best = nullptr;
  int64_t bestElements = -1;
  for (const NestAccess& access : nest.accesses) {
    if (access.isOutput == ofReduced) {
      continue;
    }
    int64_t elements = 1;
    for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
      if (access.strides[loop] != 0) {
        elements *= nest.extents[loop];
      }
    }
    if (elements > bestElements) {
      best = &access;
      bestElements = elements;
    }
  }
  return best;
}

/// Loops outermost first.
std::vector<LoopId> orderOf(const Nest& nest, bool ofReduced) {
  std::vector<LoopId> order;
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    if ((nest.isReduced[loop] != 0) == ofReduced) {
      order.push_back(static_cast<LoopId>(loop));
    }
  }
  const NestAccess* model = modelOf(nest, ofReduced);
  if (model == nullptr) {
    model = modelOf(nest, !ofReduced);
  }
  if (model != nullptr) {
    // Insertion keeps the order of equal strides and needs no buffer.
    for (size_t i = 1; i < order.size(); ++i) {
      for (size_t j = i; j > 0; --j) {
        const auto stride = [&](size_t at) {
          return std::abs(model->strides[static_cast<size_t>(order[at])]);
        };
        // Loops that the model lacks stay where they are.
        if (stride(j) == 0 || stride(j - 1) == 0 || stride(j - 1) >= stride(j)) {
          break;
        }
        std::swap(order[j - 1], order[j]);
      }
    }
  }
  return order;
}

ScheduledLoop single(const Nest& nest, LoopId loop) {
  ScheduledLoop result{{loop}, nest.extents[static_cast<size_t>(loop)], {}};
  for (const NestAccess& access : nest.accesses) {
    result.strides.push_back(access.strides[static_cast<size_t>(loop)]);
  }
  return result;
}

bool isOneRun(const ScheduledLoop& outer, const ScheduledLoop& inner) {
  for (size_t i = 0; i < outer.strides.size(); ++i) {
    if (outer.strides[i] != inner.strides[i] * inner.extent) {
      return false;
    }
  }
  return true;
}

std::vector<ScheduledLoop> merged(const Nest& nest, const std::vector<LoopId>& order) {
  std::vector<ScheduledLoop> loops;
  for (LoopId loop : order) {
    ScheduledLoop next = single(nest, loop);
    if (!loops.empty() && isOneRun(loops.back(), next)) {
      loops.back().loops.push_back(loop);
      loops.back().extent *= next.extent;
      loops.back().strides = std::move(next.strides);
    } else {
      loops.push_back(std::move(next));
    }
  }
  return loops;
}

/// How good a lane a loop makes: bytes that lie one after another along it, what is written counting twice.
int64_t laneScore(const Nest& nest, const ScheduledLoop& loop) {
  int64_t score = 0;
  for (size_t i = 0; i < nest.accesses.size(); ++i) {
    const NestAccess& access = nest.accesses[i];
    int64_t elements = 1;
    for (size_t l = 0; l < nest.extents.size(); ++l) {
      elements *= access.strides[l] != 0 ? std::max<int64_t>(nest.extents[l], 1) : 1;
    }
    if (loop.strides[i] == 1) {
      score += elements * access.elementBytes * (access.isOutput ? 2 : 1);
    }
  }
  return score;
}

/// Takes the best lane out of its list.
ScheduledLoop takeLane(std::vector<ScheduledLoop>& loops, size_t at) {
  ScheduledLoop lane = std::move(loops[at]);
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at));
  return lane;
}

struct Best {
  int64_t score = -1;
  size_t at = 0;
};

Best bestLane(const Nest& nest, const std::vector<ScheduledLoop>& loops) {
  Best best;
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t score = laneScore(nest, loops[i]);
    if (score > best.score) {
      best = {score, i};
    }
  }
  return best;
}

int64_t product(const std::vector<ScheduledLoop>& loops) {
  int64_t result = 1;
  for (const ScheduledLoop& loop : loops) {
    result *= loop.extent;
  }
  return result;
}

/// Bytes of what is written, and of everything that the nest touches.
struct Traffic {
  int64_t written = 0;
  int64_t all = 0;
};
Traffic trafficOf(const Nest& nest) {
  Traffic traffic;
  for (const NestAccess& access : nest.accesses) {
    int64_t bytes = access.elementBytes;
    for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
      bytes *= access.strides[loop] != 0 ? nest.extents[loop] : 1;
    }
    traffic.all += bytes;
    traffic.written += access.isOutput ? bytes : 0;
  }
  return traffic;
}

int64_t ceilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Accesses that tiles turn, if those run along a loop beside the lane.
struct Turned {
  int64_t bytes = 0;  // of an element of each
  int64_t widest = 0;
};
Turned turnedAlong(const Nest& nest, const ScheduledLoop& loop, const ScheduledLoop& lane) {
  Turned turned;
  for (size_t i = 0; i < nest.accesses.size(); ++i) {
    const NestAccess& access = nest.accesses[i];
    if (!access.isOutput && isTurned(loop.strides[i], lane.strides[i])) {
      turned.bytes += access.elementBytes;
      turned.widest = std::max(turned.widest, access.elementBytes);
    }
  }
  return turned;
}

/// Tiles, if some tensors are read along another loop than the lane: along the one that most bytes lie along.
void chooseTiles(const Nest& nest, const CostModel& costs, Schedule& schedule) {
  if (schedule.hasReduction || !nest.readsByLoops || schedule.lane.extent < costs.leastTile) {
    return;
  }
  Turned most;
  size_t best = 0;
  for (size_t at = 0; at < schedule.parallel.size(); ++at) {
    const ScheduledLoop& loop = schedule.parallel[at];
    const Turned turned = turnedAlong(nest, loop, schedule.lane);
    if (turned.bytes > most.bytes && loop.extent >= costs.leastTile) {
      most = turned;
      best = at;
    }
  }
  if (most.bytes == 0 ||
      most.bytes > std::min(costs.tileBytes, kTileBytes) / (costs.leastTile * costs.leastTile)) {
    return;
  }
  const auto loop = schedule.parallel.begin() + static_cast<std::ptrdiff_t>(best);
  std::rotate(loop, loop + 1, schedule.parallel.end());
  schedule.isTiled = true;
  const int64_t elements = std::min(costs.tileBytes, kTileBytes) / most.bytes;
  int64_t columns =
      std::clamp(costs.tileRunBytes / most.widest, costs.leastTile, costs.mostTileColumns);
  while (columns > costs.leastTile && elements / columns < columns) {
    columns /= 2;
  }
  int64_t rows = elements / columns;
  const auto tiles = [&] {
    return product(schedule.parallel) / schedule.parallel.back().extent *
           ceilOf(schedule.parallel.back().extent, rows) * ceilOf(schedule.lane.extent, columns);
  };
  while (rows > costs.fewTileRows && tiles() < costs.threads * 4) {
    rows /= 2;
  }
  schedule.tileRows = rows;
  schedule.laneBlock = std::min(schedule.lane.extent, columns);
}

/// Parallel iterations without those of the lane.
int64_t outerIterations(const Schedule& schedule) {
  const int64_t all = product(schedule.parallel);
  if (!schedule.isTiled) {
    return all;
  }
  const int64_t rows = schedule.parallel.back().extent;
  return all / rows * ceilOf(rows, schedule.tileRows);
}

void chooseBlocks(const Nest& nest, const CostModel& costs, Schedule& schedule) {
  const int64_t outer = outerIterations(schedule);
  const int64_t reducedElements = product(schedule.serial);
  const int64_t extent = std::max<int64_t>(schedule.lane.extent, 1);
  const int64_t elementWork =
      std::max<int64_t>(nest.work, 1) * std::max<int64_t>(reducedElements / schedule.splits, 1);
  if (schedule.isLaneReduced) {
    schedule.laneBlock = extent;
  } else if (!schedule.isTiled) {
    int64_t block = extent;
    if (outer * schedule.splits < costs.threads * 4) {
      const int64_t pieces =
          ceilOf(costs.threads * (outer > 1 ? 4 : 1), std::max<int64_t>(outer, 1));
      block = std::max(ceilOf(extent, pieces),
                       std::min<int64_t>(extent, ceilOf(costs.threadWork, elementWork)));
      block = std::min(extent, ceilOf(block, 64) * 64);
    }
    if (schedule.hasReduction) {
      block = std::min(block, std::min(costs.blockElements, kBlockElements));
      if (schedule.keepsRows || nest.rowBytes > 0) {
        // Later passes read the block again: it should still be in the cache.
        const int64_t columnBytes = std::max<int64_t>(1, reducedElements * nest.rowBytes);
        block = std::clamp<int64_t>(costs.level2Bytes / 2 / columnBytes / 16 * 16, 16, block);
      }
    }
    schedule.laneBlock = std::max<int64_t>(block, 1);
  }
  schedule.laneBlocks = schedule.isLaneReduced ? 1 : ceilOf(extent, schedule.laneBlock);
  schedule.iterations =
      schedule.lane.extent == 0 && !schedule.isLaneReduced ? 0 : outer * schedule.laneBlocks;
  const int64_t iterationWork =
      (schedule.isLaneReduced && schedule.serial.empty() ? ceilOf(extent, schedule.splits)
                                                         : schedule.laneBlock) *
      (schedule.isTiled ? schedule.tileRows : 1) * elementWork;
  schedule.grain =
      std::max<int64_t>(1, ceilOf(costs.threadWork, std::max<int64_t>(iterationWork, 1)));
}

/// The number of columns does not count: how they are divided depends on the number of threads.
void chooseSplits(const Nest& nest, const CostModel& costs, Schedule& schedule) {
  if (!schedule.hasReduction || nest.scans || nest.sumsOuter ||
      product(schedule.parallel) >= costs.splitIterations) {
    return;
  }
  const ScheduledLoop& outermost =
      schedule.serial.empty() ? schedule.lane : schedule.serial.front();
  int64_t inner = schedule.serial.empty() ? 1 : schedule.lane.extent;
  for (size_t i = 1; i < schedule.serial.size(); ++i) {
    inner *= schedule.serial[i].extent;
  }
  const int64_t size = std::max<int64_t>(1, costs.splitElements / std::max<int64_t>(inner, 1));
  if (outermost.extent < 2 * size) {
    return;
  }
  schedule.isSplit = true;
  schedule.keepsRows = false;
  schedule.splitSize = size;
  schedule.splits = ceilOf(outermost.extent, size);
}

}  // namespace

Schedule chooseSchedule(const Nest& nest, const CostModel& costs) {
  Schedule schedule;
  schedule.parallel = merged(nest, orderOf(nest, /*ofReduced=*/false));
  schedule.serial = merged(nest, orderOf(nest, /*ofReduced=*/true));
  schedule.hasReduction = !schedule.serial.empty();
  const Best parallel = bestLane(nest, schedule.parallel);
  const Best reduced = bestLane(nest, schedule.serial);
  if (parallel.score < 0 && reduced.score < 0) {
    schedule.lane.strides.assign(nest.accesses.size(), 0);
  } else if (nest.sumsOuter || reduced.score >= parallel.score) {
    schedule.isLaneReduced = true;
    schedule.lane = takeLane(schedule.serial, reduced.at);
  } else {
    schedule.lane = takeLane(schedule.parallel, parallel.at);
  }
  schedule.keepsRows = schedule.isLaneReduced && schedule.serial.empty() && nest.rowBytes > 0 &&
                       schedule.lane.extent <= std::min(costs.rowElements, kRowElements);
  chooseTiles(nest, costs, schedule);
  chooseSplits(nest, costs, schedule);
  chooseBlocks(nest, costs, schedule);
  if (nest.sumsOuter) {
    schedule.partRows =
        std::clamp<int64_t>(ceilOf(schedule.iterations, costs.outerParts), 1, costs.mostPartRows);
  }
  const Traffic traffic = trafficOf(nest);
  schedule.streams =
      traffic.all > costs.lastLevelBytes && traffic.written > costs.lastLevelBytes / 4;
  // Where nothing is reduced, or once, the machine's own look ahead is better as long as a cache has what is read.
  schedule.prefetches =
      schedule.hasReduction && traffic.all > (nest.rowBytes > 0 ? costs.level2Bytes * costs.threads
                                                                : costs.lastLevelBytes / 2);
  return schedule;
}

std::vector<int32_t> structureOf(const Schedule& schedule) {
  std::vector<int32_t> words = {static_cast<int32_t>(schedule.parallel.size()),
                                static_cast<int32_t>(schedule.serial.size()),
                                (schedule.isLaneReduced ? 1 : 0) + (schedule.keepsRows ? 2 : 0) +
                                    (schedule.isSplit ? 4 : 0) + (schedule.isTiled ? 8 : 0)};
  const auto addLoop = [&words](const ScheduledLoop& loop, bool isUnitFixed) {
    words.push_back(static_cast<int32_t>(loop.loops.size()));
    words.insert(words.end(), loop.loops.begin(), loop.loops.end());
    for (int64_t stride : loop.strides) {
      words.push_back(stride == 0 ? 0 : isUnitFixed && stride == 1 ? 1 : 2);
    }
  };
  for (const ScheduledLoop& loop : schedule.parallel) {
    addLoop(loop, schedule.isTiled && &loop == &schedule.parallel.back());
  }
  for (const ScheduledLoop& loop : schedule.serial) {
    addLoop(loop, false);
  }
  addLoop(schedule.lane, true);
  return words;
}

std::string toText(const Schedule& schedule) {
  const auto loopText = [](const ScheduledLoop& loop) {
    std::vector<std::string> names;
    for (LoopId id : loop.loops) {
      names.push_back("l" + std::to_string(id));
    }
    return names.empty() ? std::string("1") : joinText(names, "*");
  };
  std::string text;
  for (const ScheduledLoop& loop : schedule.parallel) {
    text += "parallel " + loopText(loop) + " ";
  }
  for (const ScheduledLoop& loop : schedule.serial) {
    text += "serial " + loopText(loop) + " ";
  }
  text += "lane " + loopText(schedule.lane);
  if (schedule.isLaneReduced) {
    text += " reduced";
  }
  return text + (schedule.keepsRows ? " keeps rows" : "") + (schedule.isSplit ? " split" : "") +
         (schedule.isTiled ? " in tiles" : "");
}

}  // namespace meshfuse
