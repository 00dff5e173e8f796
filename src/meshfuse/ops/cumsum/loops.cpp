#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cumsum {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cumsum
