#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::uniform {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::uniform
