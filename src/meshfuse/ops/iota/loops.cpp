#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::iota {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::iota
