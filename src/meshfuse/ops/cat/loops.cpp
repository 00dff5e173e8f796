#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::cat {

LoopForm loopForm() { return LoopForm::elementwise(Body::Cat, LoopForm::Cost::Nothing); }

}  // namespace meshfuse::ops::cat
