#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::select {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::select
