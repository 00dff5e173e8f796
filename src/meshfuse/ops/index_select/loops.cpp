#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::index_select {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::index_select
