#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::randn_like {

LoopForm loopForm() { return LoopForm::elementwise(Body::NormalLike); }

}  // namespace meshfuse::ops::randn_like
