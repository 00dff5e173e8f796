// The definitions whose `with` blocks are open.
#include "meshfuse/frontend/python/open_blocks.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace meshfuse {
namespace {

using Blocks = std::vector<std::shared_ptr<FusionDefinition>>;

/// Operations name no definition: the language adds them to the one whose block is being executed, thread by thread.
Blocks& blocks() noexcept {
  thread_local Blocks open;
  return open;
}

/// The innermost of its blocks: a definition has several where a guard names it again.
Blocks::iterator find(const FusionDefinition& definition) noexcept {
  const auto found = std::ranges::find(blocks().rbegin(), blocks().rend(), &definition,
                                       [](const auto& block) { return block.get(); });
  return found == blocks().rend() ? blocks().end() : found.base() - 1;
}

}  // namespace

void openBlock(std::shared_ptr<FusionDefinition> definition) {
  blocks().push_back(std::move(definition));
}

void closeBlock(const FusionDefinition& definition) noexcept {
  if (const auto found = find(definition); found != blocks().end()) {
    blocks().erase(found);
  }
}

bool hasOpenBlock(const FusionDefinition& definition) noexcept {
  return find(definition) != blocks().end();
}

const std::shared_ptr<FusionDefinition>* innermostDefinition() noexcept {
  return blocks().empty() ? nullptr : &blocks().back();
}

}  // namespace meshfuse
