#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::max {

LoopForm loopForm() { return LoopForm::reduction(Fold::Max); }

}  // namespace meshfuse::ops::max
