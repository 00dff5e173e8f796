#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::scaled_mm {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::scaled_mm
