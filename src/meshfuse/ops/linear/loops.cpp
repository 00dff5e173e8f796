#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::linear {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::linear
