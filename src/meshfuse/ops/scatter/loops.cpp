#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::scatter {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::scatter
