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

/// `MESHFUSE_PRINT=segment,schedule` prints the results of those passes to the standard error stream, where they differ from what
/// the same pass printed last in this compilation; `all` those of every pass; `time` what each took, `cost` what they decided by
/// which figures. `MESHFUSE_SKIP=clean,memory` leaves out passes that can be left out. `MESHFUSE_VERIFY=1` checks what each pass gives, which builds for debugging do
/// unless it is 0. All are read when a compilation begins; other names and values throw UserError(Value).
class PassRunner {
 public:
  PassRunner();

  /// Runs `pass` and returns its result. `toText` is called only where that is printed, and `violationsOf`, which gives what is
  /// wrong with a result in words, only where it is checked: a violation throws InternalError.
  template <class Pass, class ToText, class ViolationsOf>
  auto run(std::string_view name, Pass pass, ToText toText, ViolationsOf violationsOf) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = pass();
    note(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (isPrinted(name)) {
      print(name, toText(result));
    }
    if (verifies_) {
      refuse(name, violationsOf(result));
    }
    return result;
  }

  bool isSkipped(std::string_view name) const;
  bool isPrinted(std::string_view name) const;
  /// Whether results are checked.
  bool verifies() const noexcept { return verifies_; }
  const std::vector<PassTime>& times() const noexcept { return times_; }
  /// Prints them, where that was asked for.
  void printTimes() const;
  /// Whether what passes decide by is printed, and the printing of it.
  bool explains() const;
  void explain(const std::string& costs) const;

 private:
  void note(std::string_view name, double seconds);
  static void refuse(std::string_view name, const std::vector<std::string>& violations);
  void print(std::string_view name, const std::string& text);

  std::vector<std::string> printed_;
  std::vector<std::string> skipped_;
  bool verifies_;
  std::vector<PassTime> times_;
  std::vector<std::pair<std::string, std::string>> lastText_;
};

}  // namespace meshfuse
