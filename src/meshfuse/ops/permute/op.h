// The record of permute.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::permute {

OpInfo info();

}  // namespace meshfuse::ops::permute
