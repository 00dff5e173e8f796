// The record of broadcast_in_dim.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::broadcast_in_dim {

OpInfo info();

}  // namespace meshfuse::ops::broadcast_in_dim
