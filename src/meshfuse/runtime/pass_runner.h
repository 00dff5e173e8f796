// What surrounds every pass of the compiler: its name, its time, and its result in text where that was asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshfuse {

/// Time that passes took, in the order they first ran.
struct PassTime {
  std::string name;
  double seconds = 0;
  int64_t runs = 0;
};

/// `MESHFUSE_PRINT=segment,text` prints the results of those passes to the standard error stream, where they differ from what
/// the same pass printed last in this compilation; `all` those of every pass. `MESHFUSE_SKIP=memory` leaves out passes that can
/// be left out. Both are read when a compilation begins; a name that no pass has throws UserError(Value).
class PassRunner {
 public:
  PassRunner();

  /// Runs `pass` and returns its result; `toText` is called only where that is printed.
  template <class Pass, class ToText>
  auto run(std::string_view name, Pass pass, ToText toText) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = pass();
    note(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (isPrinted(name)) {
      print(name, toText(result));
    }
    return result;
  }

  bool isSkipped(std::string_view name) const;
  const std::vector<PassTime>& times() const noexcept { return times_; }

 private:
  void note(std::string_view name, double seconds);
  bool isPrinted(std::string_view name) const;
  void print(std::string_view name, const std::string& text);

  std::vector<std::string> printed_;
  std::vector<std::string> skipped_;
  std::vector<PassTime> times_;
  std::vector<std::pair<std::string, std::string>> lastText_;
};

}  // namespace meshfuse
