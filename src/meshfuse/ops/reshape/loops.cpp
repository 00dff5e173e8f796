#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::reshape {

LoopForm loopForm() { return LoopForm::dividingView(); }

}  // namespace meshfuse::ops::reshape
