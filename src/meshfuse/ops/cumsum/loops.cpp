#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cumsum {

LoopForm loopForm() { return LoopForm::scan(Fold::Sum); }

}  // namespace meshfuse::ops::cumsum
