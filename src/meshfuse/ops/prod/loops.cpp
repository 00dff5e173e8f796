#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::prod {

LoopForm loopForm() { return LoopForm::reduction(Fold::Product); }

}  // namespace meshfuse::ops::prod
