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
  // Pieces use only earlier ones, so that one pass from the last to the first finds all.
  for (size_t i = kPieces.size(); i-- > 0;) {
    const DevicePiece& piece = kPieces[i];
    isTaken[i] = piece.names.empty() ||
                 (provides(piece, names) && (piece.type.empty() || roots.contains(piece.type)));
    if (isTaken[i]) {
      eachWord(piece.uses, [&](std::string_view name) { names.insert(name); });
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

}  // namespace meshfuse
