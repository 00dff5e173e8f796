// The record of max.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::max {

OpInfo info();

}  // namespace meshfuse::ops::max
