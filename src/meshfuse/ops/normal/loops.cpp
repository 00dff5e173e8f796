#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::normal {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::normal
