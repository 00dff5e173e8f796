#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::nv_grouped_block_quantize {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::nv_grouped_block_quantize
