#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::stride_order {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::stride_order
