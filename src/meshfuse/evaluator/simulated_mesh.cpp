#include "meshfuse/evaluator/simulated_mesh.h"

#include <functional>
#include <map>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"

namespace meshfuse {

namespace {

at::Tensor combine(const LocalTensors& terms, ReduceKind kind) {
  const at::Tensor stacked = at::stack(terms);
  switch (kind) {
    case ReduceKind::Sum:
      return at::sum(stacked, {0}, false, stacked.scalar_type());
    case ReduceKind::Avg:
      return at::div(at::sum(stacked, {0}, false, stacked.scalar_type()),
                     static_cast<int64_t>(terms.size()));
    case ReduceKind::Max:
      return at::amax(stacked, {0});
    case ReduceKind::Min:
      return at::amin(stacked, {0});
    case ReduceKind::Product:
      return at::prod(stacked, 0, false, stacked.scalar_type());
  }
  throwInternal("the reduction is one of the list");
}

/// Applies `collective` to every line of ranks along the axis; it maps the line's tensors to as many results.
LocalTensors alongAxis(const DeviceMesh& mesh, const CollectiveSpec& spec,
                       const LocalTensors& locals,
                       const std::function<LocalTensors(const LocalTensors&)>& collective) {
  internalCheck(*spec.mesh == mesh, "a simulated mesh runs the collectives of its own mesh");
  internalCheck(static_cast<int64_t>(locals.size()) == mesh.size(),
                "a simulated mesh hosts all its ranks");
  LocalTensors results(locals.size());
  for (size_t first = 0; first < locals.size(); ++first) {
    if (results[first].defined()) {
      continue;
    }
    std::vector<size_t> line;
    LocalTensors members;
    for (int64_t rank : mesh.slice(mesh.rankAtLinear(static_cast<int64_t>(first)), spec.meshAxis)) {
      line.push_back(static_cast<size_t>(mesh.linearIndexOf(rank)));
      members.push_back(locals[line.back()]);
    }
    const LocalTensors after = collective(members);
    for (size_t i = 0; i < line.size(); ++i) {
      results[line[i]] = after[i];
    }
  }
  return results;
}

LocalTensors copies(const at::Tensor& tensor, size_t count) {
  LocalTensors all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(tensor.clone());
  }
  return all;
}

/// Term `index` of `count` that combine to `tensor`; terms differ, so that a forgotten reduction shows.
at::Tensor termOf(const at::Tensor& tensor, ReduceKind kind, int64_t index, int64_t count) {
  const bool isLast = index + 1 == count;
  if (tensor.scalar_type() == at::kBool) {
    internalCheck(kind == ReduceKind::Max || kind == ReduceKind::Min,
                  "bools are partial as any or all");
    return index == 0 ? tensor : at::full_like(tensor, kind == ReduceKind::Min);
  }
  const int64_t others = (count - 1) * (count + 2) / 2;  // 2 + 3 + … + count
  switch (kind) {
    case ReduceKind::Sum:
      return isLast ? at::sub(tensor, others) : at::full_like(tensor, index + 2);
    case ReduceKind::Avg:
      return isLast ? at::sub(tensor, others) : at::add(tensor, index + 2);
    case ReduceKind::Max:
      return at::sub(tensor, index);
    case ReduceKind::Min:
      return at::add(tensor, index);
    case ReduceKind::Product:
      return isLast ? at::mul(tensor, count % 2 == 0 ? -1 : 1) : at::full_like(tensor, -1);
  }
  throwInternal("the reduction is one of the list");
}

using Emit = std::function<void(const std::vector<int64_t>& coordinate, const at::Tensor&)>;

/// Splits partial axes from axis `coordinate.size()` on, in order, and emits each rank's term of the whole.
void splitPartials(const at::Tensor& tensor, const Sharding& sharding,
                   std::vector<int64_t> coordinate, const Emit& emit) {
  const size_t axis = coordinate.size();
  if (axis == sharding.placements.size()) {
    emit(coordinate, tensor);
    return;
  }
  const int64_t count = sharding.mesh.size(static_cast<int64_t>(axis));
  const Placement& placement = sharding.placements[axis];
  coordinate.push_back(0);
  for (int64_t i = 0; i < count; ++i) {
    coordinate.back() = i;
    splitPartials(placement.isPartial() ? termOf(tensor, placement.reduce, i, count) : tensor,
                  sharding, coordinate, emit);
  }
}

/// The global indices of dimension `dim` held at `coordinate`, as a tensor.
at::Tensor indicesOf(const Sharding& sharding, int64_t dim, int64_t size,
                     std::span<const int64_t> coordinate) {
  LocalTensors runs{at::empty({0}, at::kLong)};
  for (const IndexRange& run : localRuns(sharding, dim, size, coordinate)) {
    runs.push_back(at::arange(run.begin, run.end, at::kLong));
  }
  return at::cat(runs);
}

bool isSame(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(at::nan_to_num(a), at::nan_to_num(b)) && at::equal(at::ne(a, a), at::ne(b, b));
}

/// One global tensor under assembly, and which of its elements some rank has put.
struct Assembly {
  at::Tensor values;
  at::Tensor known;
};

/// The same elements in a type that torch can index and compare: it cannot place UInt64, nor compare floats of 8 bits, whose
/// bits Int and a byte hold as well.
at::Tensor placeable(const at::Tensor& tensor) {
  if (tensor.is_floating_point() && tensor.element_size() == 1) {
    return tensor.view(at::kByte);
  }
  return tensor.scalar_type() == at::kUInt64 ? tensor.view(at::kLong) : tensor;
}

/// Puts a rank's local in its place, checking elements that another rank already put.
void placeLocal(Assembly& assembly, const at::Tensor& local, const Sharding& sharding,
                std::span<const int64_t> coordinate) {
  std::vector<std::optional<at::Tensor>> indices;
  for (int64_t dim = 0; dim < assembly.values.dim(); ++dim) {
    const at::Tensor index = indicesOf(sharding, dim, assembly.values.size(dim), coordinate);
    std::vector<int64_t> shape(static_cast<size_t>(assembly.values.dim()), 1);
    shape[static_cast<size_t>(dim)] = index.numel();
    indices.emplace_back(index.view(shape));
  }
  const c10::List<std::optional<at::Tensor>> list(indices);
  const at::Tensor known = at::index(assembly.known, list);
  const at::Tensor values = placeable(assembly.values);
  const at::Tensor part = placeable(local);
  if (!isSame(at::where(known, at::index(values, list), part), part)) {
    throwUser(ErrorKind::Runtime,
              {"gather", "replicas hold the same values",
               "the rank at " + toText(coordinate) + " disagrees under " + sharding.toText(),
               "check that each rank ran the same program"});
  }
  values.index_put_(list, part);
  assembly.known.index_put_(list, at::ones_like(known));
}

/// Combines terms keyed by coordinate on the partial axes, innermost axis first.
at::Tensor combineTerms(std::map<std::vector<int64_t>, at::Tensor> terms,
                        const Sharding& sharding) {
  for (auto placement = sharding.placements.rbegin(); placement != sharding.placements.rend();
       ++placement) {
    if (!placement->isPartial()) {
      continue;
    }
    std::map<std::vector<int64_t>, LocalTensors> groups;
    for (auto& [key, term] : terms) {
      groups[{key.begin(), key.end() - 1}].push_back(term);
    }
    terms.clear();
    for (auto& [key, group] : groups) {
      terms[key] = combine(group, placement->reduce);
    }
  }
  return terms.begin()->second;
}

}  // namespace

Collectives simulatedCollectives(const DeviceMesh& mesh) {
  Collectives collectives;
  collectives.allReduce = [mesh](const CollectiveSpec& spec, const LocalTensors& locals) {
    return alongAxis(mesh, spec, locals, [&](const LocalTensors& line) {
      return copies(combine(line, spec.reduce), line.size());
    });
  };
  collectives.allGather = [mesh](const CollectiveSpec& spec, const LocalTensors& locals) {
    return alongAxis(mesh, spec, locals, [&](const LocalTensors& line) {
      return copies(at::cat(line, spec.dim), line.size());
    });
  };
  collectives.reduceScatter = [mesh](const CollectiveSpec& spec, const LocalTensors& locals) {
    return alongAxis(mesh, spec, locals, [&](const LocalTensors& line) {
      return at::chunk(combine(line, spec.reduce), static_cast<int64_t>(line.size()), spec.dim);
    });
  };
  collectives.agree = [](const DeviceMesh&, uint64_t, const auto&) {};
  return collectives;
}

LocalTensors shardOverRanks(const at::Tensor& global, const Sharding& sharding) {
  LocalTensors locals;
  splitPartials(
      global, sharding, {}, [&](const std::vector<int64_t>& coordinate, const at::Tensor& term) {
        at::Tensor local = term;
        for (int64_t dim = 0; dim < global.dim(); ++dim) {
          local = local.index_select(dim, indicesOf(sharding, dim, global.size(dim), coordinate));
        }
        locals.push_back(local.clone());
      });
  return locals;
}

at::Tensor gatherFromRanks(const LocalTensors& locals, const Sharding& sharding,
                           std::span<const int64_t> globalSizes) {
  // A 0-d tensor is assembled as one of a single element.
  const std::vector<int64_t> sizes =
      globalSizes.empty() ? std::vector<int64_t>{1}
                          : std::vector<int64_t>(globalSizes.begin(), globalSizes.end());
  std::map<std::vector<int64_t>, Assembly> terms;  // by coordinate on the partial axes
  for (size_t rank = 0; rank < locals.size(); ++rank) {
    const std::vector<int64_t> coordinate =
        *sharding.mesh.coordinateOf(sharding.mesh.rankAtLinear(static_cast<int64_t>(rank)));
    std::vector<int64_t> key;
    for (size_t axis = 0; axis < coordinate.size(); ++axis) {
      if (sharding.placements[axis].isPartial()) {
        key.push_back(coordinate[axis]);
      }
    }
    auto [entry, isNew] = terms.try_emplace(key);
    if (isNew) {
      const at::TensorOptions options = locals[rank].options();
      entry->second = {at::zeros(sizes, options), at::zeros(sizes, options.dtype(at::kBool))};
    }
    placeLocal(entry->second, globalSizes.empty() ? locals[rank].view({1}) : locals[rank], sharding,
               coordinate);
  }
  std::map<std::vector<int64_t>, at::Tensor> values;
  for (const auto& [key, term] : terms) {
    values[key] = term.values.view(globalSizes);
  }
  return combineTerms(std::move(values), sharding);
}

}  // namespace meshfuse
