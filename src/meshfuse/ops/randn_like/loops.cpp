#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::randn_like {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::randn_like
