#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cummin {

LoopForm loopForm() { return LoopForm::scan(Fold::Min); }

}  // namespace meshfuse::ops::cummin
