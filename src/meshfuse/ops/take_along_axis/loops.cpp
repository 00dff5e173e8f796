#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::take_along_axis {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::take_along_axis
