#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::stride_order {

LoopForm loopForm() { return LoopForm::elementwise(LoopForm::Cost::Little).reordering(); }

}  // namespace meshfuse::ops::stride_order
