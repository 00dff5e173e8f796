#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::index_select {

LoopForm loopForm() { return LoopForm::elementwise(Body::Take); }

}  // namespace meshfuse::ops::index_select
