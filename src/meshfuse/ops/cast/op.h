// The record of cast.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cast {

OpInfo info();

}  // namespace meshfuse::ops::cast
