#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cumprod {

LoopForm loopForm() { return LoopForm::scan(Fold::Product); }

}  // namespace meshfuse::ops::cumprod
