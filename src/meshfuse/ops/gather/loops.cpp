#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::gather {

LoopForm loopForm() { return LoopForm::elementwise(Body::Take); }

}  // namespace meshfuse::ops::gather
