// Reading and writing whole small files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meshfuse {

/// An open file, closed with its owner.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) noexcept : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(); }
  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// False where what was written does not reach the file.
  bool close() noexcept;

 private:
  int descriptor_;
};

/// All that is left to read of a file; none after an error.
std::optional<std::string> readAll(int descriptor);
std::optional<std::string> readFile(const std::string& path);

/// False where not all could be written.
bool writeAll(int descriptor, std::string_view bytes);
/// Replaces what is there.
bool writeFile(const std::string& path, std::string_view bytes);

}  // namespace meshfuse
