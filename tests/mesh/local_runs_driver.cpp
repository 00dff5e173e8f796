// Answers questions about shardings line by line, so that a Python test can compare the answers with torch's.
//
//   local <mesh shape> <placements> <global sizes>     for each rank [local sizes, offsets, runs of each dimension]
//   strides <sizes> <strides> <local sizes>            the local strides
//   order <mesh shape> <dims of the axes> <axes>       the placements for one dimension's shard order
//
// Lists are joined by "x" (empty: "-"); placements by "," as R, S0 or _S0:2. An answer is one line of JSON.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"

namespace meshfuse {
namespace {

using Ints = std::vector<int64_t>;

Ints readInts(std::istream& in) {
  std::string word;
  in >> word;
  Ints values;
  std::istringstream parts(word == "-" ? "" : word);
  for (std::string part; std::getline(parts, part, 'x');) {
    values.push_back(std::stoll(part));
  }
  return values;
}

Placement readPlacement(const std::string& word) {
  if (word == "R") {
    return Placement::replicate();
  }
  size_t colon = word.find(':');
  if (colon == std::string::npos) {
    return Placement::shard(std::stoll(word.substr(1)));
  }
  return Placement::stridedShard(std::stoll(word.substr(2, colon - 2)),
                                 std::stoll(word.substr(colon + 1)));
}

std::vector<Placement> readPlacements(std::istream& in) {
  std::string word;
  in >> word;
  std::vector<Placement> placements;
  std::istringstream parts(word);
  for (std::string part; std::getline(parts, part, ',');) {
    placements.push_back(readPlacement(part));
  }
  return placements;
}

std::string textOf(const std::vector<IndexRange>& runs) {
  std::vector<std::string> parts;
  for (const IndexRange& run : runs) {
    parts.push_back(toText(Ints{run.begin, run.end}));
  }
  return "[" + joinText(parts, ", ") + "]";
}

std::string answerLocal(std::istream& in) {
  DeviceMesh mesh = DeviceMesh::fromShape(readInts(in));
  std::vector<Placement> placements = readPlacements(in);
  Sharding sharding = makeSharding(mesh, MeshDevice::Cpu, placements);
  Ints sizes = readInts(in);
  std::vector<std::string> ranks;
  for (int64_t i = 0; i < mesh.size(); ++i) {
    Ints coordinate = mesh.coordinateAtLinear(i);
    std::vector<std::string> runs;
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      runs.push_back(
          textOf(localRuns(sharding, static_cast<int64_t>(dim), sizes[dim], coordinate)));
    }
    ranks.push_back("[" + toText(localSizes(sharding, sizes, coordinate)) + ", " +
                    toText(localOffsets(sharding, sizes, coordinate)) + ", [" +
                    joinText(runs, ", ") + "]]");
  }
  return "[" + joinText(ranks, ", ") + "]";
}

std::string answerStrides(std::istream& in) {
  Ints sizes = readInts(in);
  Ints strides = readInts(in);
  Ints local = readInts(in);
  return toText(localStrides(sizes, strides, local));
}

std::string answerOrder(std::istream& in) {
  DeviceMesh mesh = DeviceMesh::fromShape(readInts(in));
  std::vector<Placement> placements;
  std::vector<ShardOrderEntry> order = {{0, {}}};
  for (int64_t dim : readInts(in)) {
    placements.push_back(dim < 0 ? Placement::replicate() : Placement::shard(dim));
  }
  order[0].meshAxes = readInts(in);
  std::vector<std::string> parts;
  for (const Placement& placement :
       makeSharding(mesh, MeshDevice::Cpu, placements, order).placements) {
    parts.push_back("\"" + placement.toText() + "\"");
  }
  return "[" + joinText(parts, ", ") + "]";
}

std::string answer(const std::string& line) {
  std::istringstream in(line);
  std::string question;
  in >> question;
  if (question == "local") {
    return answerLocal(in);
  }
  return question == "strides" ? answerStrides(in) : answerOrder(in);
}

}  // namespace
}  // namespace meshfuse

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << meshfuse::answer(line) << '\n';
  }
}
