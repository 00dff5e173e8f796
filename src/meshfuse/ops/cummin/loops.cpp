#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cummin {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cummin
