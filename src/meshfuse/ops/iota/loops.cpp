#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::iota {

LoopForm loopForm() { return LoopForm::elementwise(Body::Iota, LoopForm::Cost::Nothing); }

}  // namespace meshfuse::ops::iota
