#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::slice {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::slice
