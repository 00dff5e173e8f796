#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::broadcast_in_dim {

LoopForm loopForm() { return LoopForm::view(); }

}  // namespace meshfuse::ops::broadcast_in_dim
