// What all scans share: parameters, dim, type and dimension map.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// A record with the parameters (arg, dim, init) and every rule but normalize and algebra. The result has the operand's dtype, whole
/// numbers too; the scanned dim is whole on every rank.
OpInfo scanRecord(std::string_view name, std::string_view doc);

/// Wraps the dim at args[1]. Throws UserError(Runtime) for a dim out of range (a 0-d operand has none) and for an init that the
/// operand's dtype does not hold.
void normalizeScan(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);

}  // namespace meshfuse
