#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::size {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::size
