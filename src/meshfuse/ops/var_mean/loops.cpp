#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::var_mean {

LoopForm loopForm() { return LoopForm::reduction(Fold::VarianceMean); }

}  // namespace meshfuse::ops::var_mean
