#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::embedding_fwd {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::embedding_fwd
