#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cumprod {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cumprod
