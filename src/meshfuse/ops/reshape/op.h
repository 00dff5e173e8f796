// The record of reshape.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::reshape {

OpInfo info();

}  // namespace meshfuse::ops::reshape
