#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::uniform {

LoopForm loopForm() { return LoopForm::elementwise(Body::Uniform); }

}  // namespace meshfuse::ops::uniform
