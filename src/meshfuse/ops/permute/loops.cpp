#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::permute {

LoopForm loopForm() { return LoopForm::view().reordering(); }

}  // namespace meshfuse::ops::permute
