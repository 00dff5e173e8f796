#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::gather {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::gather
