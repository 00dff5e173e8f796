#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::pad {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::pad
