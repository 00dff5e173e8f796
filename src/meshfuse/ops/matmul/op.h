// The record of matmul.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::matmul {

OpInfo info();

}  // namespace meshfuse::ops::matmul
