#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cutlass_nvfp4_grouped_mm {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::cutlass_nvfp4_grouped_mm
