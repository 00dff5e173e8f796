#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cat {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cat
