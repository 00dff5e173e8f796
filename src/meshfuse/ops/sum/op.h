// The record of sum.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::sum {

OpInfo info();

}  // namespace meshfuse::ops::sum
