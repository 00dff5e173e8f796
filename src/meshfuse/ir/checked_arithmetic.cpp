#include "meshfuse/ir/checked_arithmetic.h"

#include <string>
#include <string_view>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

[[noreturn]] void throwOverflow(std::string_view operation, int64_t a, int64_t b) {
  throwUser(ErrorKind::Value, {"integer expression", "sizes and their products must fit in 64 bits",
                               std::string(operation) + " of " + std::to_string(a) + " and " +
                                   std::to_string(b) + " overflows",
                               "use smaller sizes"});
}

}  // namespace

int64_t addChecked(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throwOverflow("the sum", a, b);
  }
  return sum;
}

int64_t subtractChecked(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    throwOverflow("the difference", a, b);
  }
  return difference;
}

int64_t multiplyChecked(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throwOverflow("the product", a, b);
  }
  return product;
}

}  // namespace meshfuse
