#include "meshfuse/runtime/file_bytes.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace meshfuse {

bool OpenFile::close() noexcept {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor < 0 || ::close(descriptor) == 0;
}

std::optional<std::string> readAll(int descriptor) {
  std::string bytes;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count == 0) {
      return bytes;
    }
    if (count < 0 && errno != EINTR) {
      return std::nullopt;
    }
    if (count > 0) {
      bytes.append(part.data(), static_cast<size_t>(count));
    }
  }
}

std::optional<std::string> readFile(const std::string& path) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? readAll(file.get()) : std::nullopt;
}

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    if (count > 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  return true;
}

bool writeFile(const std::string& path, std::string_view bytes) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const bool isWritten = file && writeAll(file.get(), bytes);
  return file.close() && isWritten;
}

}  // namespace meshfuse
