#include "meshfuse/codegen/device_text.h"

#include <algorithm>
#include <array>
#include <set>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

/// A part of the device text that is taken as a whole. Lists of names are separated by spaces.
struct DevicePiece {
  std::string_view names;
  /// The type that a text must name to have this piece; empty: none.
  std::string_view type;
  std::string_view uses;
  std::string_view text;
};

constexpr std::array kPieces = std::to_array<DevicePiece>({
#include "meshfuse/codegen/device_pieces.inc"
});

constexpr std::string_view kDouble = "double";

bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Calls `visit` with each run of letters, digits and underscores.
template <class Visit>
void eachWord(std::string_view text, const Visit& visit) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && isWordPart(text[end])) {
      ++end;
    }
    if (end > begin) {
      visit(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
}

bool provides(const DevicePiece& piece, const std::set<std::string_view>& names) {
  bool found = false;
  eachWord(piece.names, [&](std::string_view name) { found = found || names.contains(name); });
  return found;
}

std::string textOf(const std::set<std::string_view>& roots) {
  std::set<std::string_view> names = roots;
  std::array<bool, kPieces.size()> isTaken{};
  // Again until nothing is added: a template that calls `exp` wants the one of complex numbers too, which comes later.
  for (bool isComplete = false; !isComplete;) {
    isComplete = true;
    for (size_t i = kPieces.size(); i-- > 0;) {
      const DevicePiece& piece = kPieces[i];
      const bool isWanted = piece.names.empty() || provides(piece, names);
      if (!isTaken[i] && isWanted && (piece.type.empty() || roots.contains(piece.type))) {
        isTaken[i] = true;
        isComplete = false;
        eachWord(piece.uses, [&](std::string_view name) { names.insert(name); });
      }
    }
  }
  std::string text = "namespace device {\n";
  for (size_t i = 0; i < kPieces.size(); ++i) {
    if (isTaken[i]) {
      text += kPieces[i].text;
    }
  }
  return text += "}\n";
}

}  // namespace

std::vector<std::string_view> deviceNames() {
  std::vector<std::string_view> names;
  for (const DevicePiece& piece : kPieces) {
    eachWord(piece.names, [&](std::string_view name) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    });
  }
  return names;
}

std::string deviceText(std::span<const std::string_view> functions) {
  const std::vector<std::string_view> known = deviceNames();
  for (const std::string_view name : functions) {
    internalCheck(name == kDouble || std::ranges::find(known, name) != known.end(),
                  "device text is asked for by names that it has");
  }
  return textOf({functions.begin(), functions.end()});
}

std::string deviceTextFor(std::string_view code) {
  std::set<std::string_view> words;
  eachWord(code, [&](std::string_view word) { words.insert(word); });
  return textOf(words);
}

std::string_view deviceTypeName(PrimType type) {
  switch (type) {
    case PrimType::Double:
      return "double";
    case PrimType::Float:
      return "float";
    case PrimType::Half:
      return "half";
    case PrimType::BFloat16:
      return "bfloat16";
    case PrimType::Float8_e4m3fn:
      return "float8_e4m3fn";
    case PrimType::Float8_e5m2:
      return "float8_e5m2";
    case PrimType::Float8_e8m0fnu:
      return "float8_e8m0fnu";
    case PrimType::Float4_e2m1fn_x2:
      return "float4_e2m1fn_x2";
    case PrimType::Int:
    case PrimType::Index:
      return "int64";
    case PrimType::Int32:
      return "int32";
    case PrimType::UInt64:
      return "uint64";
    case PrimType::Bool:
      return "boolean";
    case PrimType::ComplexFloat:
      return "complex<float>";
    case PrimType::ComplexDouble:
      return "complex<double>";
    case PrimType::Float4_e2m1fn:
    case PrimType::Null:
      break;
  }
  throwInternal("an element in memory has a type of whole bytes");
}

std::string_view deviceComputeName(PrimType type) {
  if (type == PrimType::Bool) {
    return "bool";
  }
  return isReducedFloat(type) ? "float" : deviceTypeName(type);
}

}  // namespace meshfuse
