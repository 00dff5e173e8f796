#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::select {

LoopForm loopForm() { return LoopForm::elementwise(Body::Select, LoopForm::Cost::Nothing); }

}  // namespace meshfuse::ops::select
