#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::take_along_axis {

LoopForm loopForm() { return LoopForm::elementwise(Body::Take); }

}  // namespace meshfuse::ops::take_along_axis
