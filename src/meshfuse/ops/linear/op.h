// The record of linear.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::linear {

OpInfo info();

}  // namespace meshfuse::ops::linear
