#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::sdpfa_fwd {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::sdpfa_fwd
