#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::sum {

LoopForm loopForm() { return LoopForm::reduction(Fold::Sum); }

}  // namespace meshfuse::ops::sum
