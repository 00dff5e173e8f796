#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::topk {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::topk
