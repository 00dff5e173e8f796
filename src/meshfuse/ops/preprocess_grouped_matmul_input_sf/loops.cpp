#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::preprocess_grouped_matmul_input_sf {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::preprocess_grouped_matmul_input_sf
