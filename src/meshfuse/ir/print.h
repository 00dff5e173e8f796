// The text of a fusion, one line a value or call, which parse.h reads back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Values in definition order, then outputs and writes. Example:
///
///   input tv0: Float[i0, 4] contiguity(t, t)
///   input tv1: Half[4, i1, b1] contiguity(n, f, t) stride_order(1, 0, 2)
///   input c0: Int i2
///   constant c1: Double = 0.5
///   tv2: Float[i0, 4] = add(tv0, c1)
///   tv3: Float[i0], tv4: Float[i0] = var_mean(tv2, [1], 1, False)
///   output tv3
///   output tv2 into tv0
///
/// `into` says that the value is written into that input, and is returned only where another line says so.
/// A dimension is an extent (`4`, `i0`, `i0*4 + 1`), `b1` for a broadcast, or `b8`, `b(i0)` for one expanded to that extent.
/// After the dimensions of a type come, where they apply, ` @ DeviceMesh{0 1} cpu (S(0))`, `contiguity(...)` (t, f, or n on
/// broadcast dimensions; allocation order), `stride_order(...)` and `cpu`. `i<n>` after a scalar's type is its symbol.
/// `value` in the place of `input` marks a value without definition that is no input, or one whose place among the
/// inputs is given by a later `input tv0`. A symbol is bound by the first declaration that has it as the whole extent of
/// a dimension; where that is not so, `symbol i0 = tv1[2]` or `symbol i0 = c0` says what binds it.
std::string print(const Fusion& fusion);

/// The same without calls and constants that neither outputs nor writes need.
std::string printNeeded(const Fusion& fusion);

/// What binds each symbol by the declarations alone, by symbol id: the `input tv0: Float[i0]` of the text.
std::map<uint32_t, SymbolSource> symbolsBoundByDeclarations(const Fusion& fusion);

/// The entries of a list argument as printed: names of values, and numbers.
std::vector<std::string> itemTexts(const Fusion& fusion, const Items& items);

/// One argument in the text form: `tv0`, `2.0`, `[0, 1]`, `True`, `Float`, `None`.
std::string printArg(const Fusion& fusion, const Arg& arg);

}  // namespace meshfuse
