#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::grouped_mm {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::grouped_mm
