#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::expand {

LoopForm loopForm() { return LoopForm::view(); }

}  // namespace meshfuse::ops::expand
