#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::broadcast {

LoopForm loopForm() { return LoopForm::view(); }

}  // namespace meshfuse::ops::broadcast
