// The record of var_mean.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::var_mean {

OpInfo info();

}  // namespace meshfuse::ops::var_mean
