#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cummax {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cummax
