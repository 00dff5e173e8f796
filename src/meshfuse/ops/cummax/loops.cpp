#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cummax {

LoopForm loopForm() { return LoopForm::scan(Fold::Max); }

}  // namespace meshfuse::ops::cummax
