#include "meshfuse/runtime/tiered_program.h"

#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include <c10/util/Exception.h>

#include "meshfuse/base/error.h"
#include "meshfuse/runtime/background_thread.h"
#include "meshfuse/runtime/compile.h"

namespace meshfuse {

bool isTiered() {
  const char* value = std::getenv("MESHFUSE_TIERED");
  const std::string_view text = value == nullptr ? "0" : value;
  if (text != "0" && text != "1") {
    throwUser(ErrorKind::Value,
              {"MESHFUSE_TIERED", "the variable is 0 or 1", "got '" + std::string(text) + "'",
               "unset it to compile before the first call"});
  }
  return text == "1";
}

TieredProgram::TieredProgram(Fusion fusion, TensorLayouts arguments,
                             std::shared_ptr<ProgramClasses> classes)
    : fusion_(std::move(fusion)), arguments_(std::move(arguments)), classes_(std::move(classes)) {}

std::shared_ptr<TieredProgram> TieredProgram::start(Fusion fusion, TensorLayouts arguments,
                                                    std::shared_ptr<ProgramClasses> classes) {
  const std::shared_ptr<TieredProgram> program(
      new TieredProgram(std::move(fusion), std::move(arguments), std::move(classes)));
  program->ended_ = runInBackground([weak = std::weak_ptr(program)] {
    if (const std::shared_ptr<TieredProgram> alive = weak.lock()) {
      alive->compileNow();
    }
  });
  return program;
}

void TieredProgram::compileNow() noexcept {
  try {
    compiled_ = compile(*fusion_, *arguments_, 0, *classes_);
    if (compiled_) {
      ready_.store(&*compiled_, std::memory_order_release);
    }
  } catch (const std::exception& error) {
    failure_ = error.what();
    hasNews_.store(true, std::memory_order_release);
  }
  fusion_.reset();
  arguments_.reset();
  classes_.reset();
}

void TieredProgram::warn() const {
  if (hasNews_.exchange(false)) {
    TORCH_WARN(
        "meshfuse: compilation in the background has failed; operations run one after another on "
        "the evaluator instead of as compiled kernels. ",
        failure_);
  }
}

}  // namespace meshfuse
