#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::clamp {

LoopForm loopForm() { return LoopForm::elementwise(Body::Clamp); }

}  // namespace meshfuse::ops::clamp
