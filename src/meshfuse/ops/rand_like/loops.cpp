#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::rand_like {

LoopForm loopForm() { return LoopForm::elementwise(Body::UniformLike); }

}  // namespace meshfuse::ops::rand_like
