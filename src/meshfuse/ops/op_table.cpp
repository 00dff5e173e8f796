#include <algorithm>
#include <memory>
#include <unordered_map>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/structured_ops.h"

namespace meshfuse {

namespace {

/// The table. Records never move, so descriptors in fusions stay valid.
struct OpTable {
  std::vector<OpInfo> records;
  std::vector<const OpInfo*> sorted;
  std::unordered_map<std::string_view, const OpInfo*> byName;

  OpTable() : records(makePointwiseOps()) {
#define MESHFUSE_STRUCTURED_OP(folder) records.push_back(ops::folder::info());
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
    for (const OpInfo& op : records) {
      sorted.push_back(&op);
      internalCheck(byName.emplace(op.name, &op).second, "op names are unique");
    }
    std::ranges::sort(sorted, {}, &OpInfo::name);
  }
};

const OpTable& table() {
  static const OpTable instance;
  return instance;
}

}  // namespace

std::span<const OpInfo* const> allOps() { return table().sorted; }

const OpInfo* findOp(std::string_view name) {
  const auto found = table().byName.find(name);
  return found == table().byName.end() ? nullptr : found->second;
}

const OpInfo& infoOf(const OpDescriptor& op) {
  const OpInfo* info = findOp(op.name);
  internalCheck(info != nullptr && info == &op, "the descriptor is a record of the op table");
  return *info;
}

std::vector<Arg> sampleArgs(const OpInfo& op, const OpSample& sample,
                            std::span<const ValId> tensors) {
  std::vector<Arg> args = sample.args;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Arg& arg = args[sample.tensorArgs[i]];
    if (op.params[sample.tensorArgs[i]].kind != ParamKind::Tensors) {
      arg = tensors[i];
      continue;
    }
    if (!std::holds_alternative<Items>(arg)) {
      arg = Items();
    }
    std::get<Items>(arg).emplace_back(tensors[i]);
  }
  return args;
}

std::vector<std::string> missingColumns(const OpInfo& info) {
  std::vector<std::string> missing;
  const auto require = [&](bool present, std::string_view column) {
    if (!present) {
      missing.emplace_back(column);
    }
  };
  require(!info.name.empty(), "name");
  require(!info.params.empty(), "params");
  require(!info.overloads.empty(), "overloads");
  require(!info.doc.empty(), "doc");
  require(info.normalize != nullptr, "normalize");
  if (info.extent != nullptr) {
    return missing;
  }
  require(info.dtypes != nullptr, "dtypes");
  require(info.dimMap != nullptr, "dimMap");
  require(info.algebra != nullptr, "algebra");
  require(info.samples != nullptr && !info.samples(info).empty(), "samples");
  return missing;
}

}  // namespace meshfuse
