#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::normal {

LoopForm loopForm() { return LoopForm::elementwise(Body::Normal); }

}  // namespace meshfuse::ops::normal
