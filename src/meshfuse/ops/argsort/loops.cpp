#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::argsort {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::argsort
