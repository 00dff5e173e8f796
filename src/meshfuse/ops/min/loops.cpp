#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::min {

LoopForm loopForm() { return LoopForm::reduction(Fold::Min); }

}  // namespace meshfuse::ops::min
