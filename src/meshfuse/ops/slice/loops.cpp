#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::slice {

LoopForm loopForm() { return LoopForm::elementwise(Body::Slice, LoopForm::Cost::Nothing); }

}  // namespace meshfuse::ops::slice
