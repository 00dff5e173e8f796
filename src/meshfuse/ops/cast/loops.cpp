#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cast {

LoopForm loopForm() { return LoopForm::elementwise(LoopForm::Cost::Little); }

}  // namespace meshfuse::ops::cast
