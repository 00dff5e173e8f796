#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::reshape {

LoopForm loopForm() { return LoopForm::view().dividing(); }

}  // namespace meshfuse::ops::reshape
