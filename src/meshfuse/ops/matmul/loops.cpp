#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::matmul {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::matmul
