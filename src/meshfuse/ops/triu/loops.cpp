#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::triu {

LoopForm loopForm() { return LoopForm::call(); }

}  // namespace meshfuse::ops::triu
