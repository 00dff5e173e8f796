#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::welford {

LoopForm loopForm() { return LoopForm::reduction(Fold::Welford); }

}  // namespace meshfuse::ops::welford
