#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::var {

LoopForm loopForm() { return LoopForm::reduction(Fold::Variance); }

}  // namespace meshfuse::ops::var
