#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse::ops::embedding_fwd {

LoopForm loopForm() { return LoopForm::elementwise(Body::Embedding); }

}  // namespace meshfuse::ops::embedding_fwd
