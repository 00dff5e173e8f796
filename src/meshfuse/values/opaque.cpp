#include "meshfuse/values/opaque.h"

#include <cstdlib>

#include <cxxabi.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

std::string readableName(const std::type_info& type) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? std::string(name.get()) : std::string(type.name());
}

}  // namespace

std::string Opaque::typeName() const { return readableName(box().typeInfo()); }

DataType Opaque::dataType() const {
  return DataType(OpaqueType{typeName(), static_cast<int64_t>(bytes().size())});
}

void Opaque::throwWrongType(const std::type_info& wanted) const {
  throwUser(ErrorKind::Type, {"Opaque.as", "the type asked for must be the type held",
                              "held " + typeName() + ", asked for " + readableName(wanted),
                              "ask for the held type, or test with is<T>() first"});
}

}  // namespace meshfuse
