#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::full {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::full
