#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::squeeze {

LoopForm loopForm() { return LoopForm::view(); }

}  // namespace meshfuse::ops::squeeze
