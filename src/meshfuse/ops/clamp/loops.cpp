#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::clamp {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::clamp
