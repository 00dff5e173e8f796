#include "meshfuse/runtime/pass_runner.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

struct PassName {
  std::string_view name;
  bool canBeSkipped;
};

/// Every pass, in the order of compile.cpp.
constexpr auto kPasses = std::to_array<PassName>({
    {"clean", true},
    {"segment", false},
    {"outer", true},
    {"recompute", true},
    {"merge", true},
    {"schedule", false},
    {"build", false},
    {"memory", true},
});

/// What else can be printed.
constexpr auto kReports = std::to_array<std::string_view>({"cost", "time", "all"});

std::vector<std::string> listIn(const char* variable, bool isSkipping) {
  std::vector<std::string> names;
  const char* value = std::getenv(variable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    const auto pass = std::ranges::find(kPasses, name, &PassName::name);
    const bool isKnown = isSkipping
                             ? pass != kPasses.end() && pass->canBeSkipped
                             : pass != kPasses.end() || std::ranges::count(kReports, name) != 0;
    if (!isKnown) {
      std::vector<std::string> known;
      for (const PassName& each : kPasses) {
        if (!isSkipping || each.canBeSkipped) {
          known.emplace_back(each.name);
        }
      }
      if (!isSkipping) {
        known.insert(known.end(), kReports.begin(), kReports.end());
      }
      throwUser(ErrorKind::Value,
                {variable, "the variable lists passes of the compiler",
                 "got '" + std::string(name) + "'", "name some of " + joinText(known, ", ")});
    }
    names.emplace_back(name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

bool isVerifying() {
  const char* value = std::getenv("MESHFUSE_VERIFY");
  if (value == nullptr) {
#ifdef NDEBUG
    return false;
#else
    return true;
#endif
  }
  const std::string_view text = value;
  if (text != "0" && text != "1") {
    throwUser(ErrorKind::Value,
              {"MESHFUSE_VERIFY", "the variable is 0 or 1", "got '" + std::string(text) + "'",
               "set it to 1 to check what each pass of the compiler gives"});
  }
  return text == "1";
}

}  // namespace

PassRunner::PassRunner()
    : printed_(listIn("MESHFUSE_PRINT", false)),
      skipped_(listIn("MESHFUSE_SKIP", true)),
      verifies_(isVerifying()) {}

void PassRunner::refuse(std::string_view name, const std::vector<std::string>& violations) {
  if (!violations.empty()) {
    throwInternal("the pass '" + std::string(name) +
                  "' gives what is right: " + joinText(violations, "; "));
  }
}

void PassRunner::printTimes() const {
  if (std::ranges::find(printed_, "time") == printed_.end()) {
    return;
  }
  std::fprintf(stderr, "--- time\n");
  for (const PassTime& time : times_) {
    std::fprintf(stderr, "%s: %.3f ms\n", time.name.c_str(), time.seconds * 1e3);
  }
}

bool PassRunner::isSkipped(std::string_view name) const {
  return std::ranges::find(skipped_, name) != skipped_.end();
}

bool PassRunner::isPrinted(std::string_view name) const {
  return std::ranges::any_of(
      printed_, [&](const std::string& each) { return each == name || each == "all"; });
}

bool PassRunner::explains() const { return std::ranges::find(printed_, "cost") != printed_.end(); }

void PassRunner::explain(const std::string& costs) const {
  if (explains()) {
    std::fprintf(stderr, "--- cost\n%s", costs.c_str());
  }
}

void PassRunner::note(std::string_view name, double seconds) {
  auto time = std::ranges::find(times_, name, &PassTime::name);
  if (time == times_.end()) {
    times_.push_back({std::string(name)});
    time = times_.end() - 1;
  }
  time->seconds += seconds;
  ++time->runs;
}

void PassRunner::print(std::string_view name, const std::string& text) {
  auto last = std::ranges::find(lastText_, name, &std::pair<std::string, std::string>::first);
  if (last == lastText_.end()) {
    lastText_.emplace_back(name, "");
    last = lastText_.end() - 1;
  }
  if (last->second != text) {
    std::fprintf(stderr, "--- %s\n%s%s", last->first.c_str(), text.c_str(),
                 text.ends_with('\n') ? "" : "\n");
    last->second = text;
  }
}

}  // namespace meshfuse
