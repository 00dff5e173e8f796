#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::triu {

LoopForm loopForm() { return LoopForm::elementwise(Body::Triangle); }

}  // namespace meshfuse::ops::triu
