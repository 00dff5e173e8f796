// Names for the things a fusion owns: small integers that index its arenas.
#pragma once

#include <cstdint>
#include <limits>

namespace meshfuse {

enum class ValId : uint32_t {};
enum class ExprId : uint32_t {};
/// An integer that is known only at run time: an extent of an input, or an integer scalar input.
enum class SymbolId : uint32_t {};

inline constexpr ExprId kNoExpr{std::numeric_limits<uint32_t>::max()};

constexpr uint32_t indexOf(ValId id) noexcept { return static_cast<uint32_t>(id); }
constexpr uint32_t indexOf(ExprId id) noexcept { return static_cast<uint32_t>(id); }
constexpr uint32_t indexOf(SymbolId id) noexcept { return static_cast<uint32_t>(id); }

}  // namespace meshfuse
