#include "meshfuse/values/value_print.h"

#include <ostream>
#include <sstream>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/value_visit.h"

namespace meshfuse {
namespace {

void print(std::ostream& out, const PolymorphicValue& value);

struct Printer {
  std::ostream& out;

  void operator()(std::monostate) const { out << "std::monostate"; }
  void operator()(bool v) const { out << (v ? '1' : '0'); }
  void operator()(int64_t v) const { out << v; }
  void operator()(double v) const { out << v; }
  void operator()(const std::complex<double>& v) const { out << v; }
  void operator()(const at::Tensor& v) const {
    out << "Tensor(" << c10::toString(v.scalar_type()) << ", " << toText(v.sizes()) << ", "
        << v.device() << ")";
  }
  void operator()(const DistributedTensor& v) const {
    out << "DistributedTensor(" << c10::toString(v.scalarType()) << ", " << toText(v.sizes())
        << ", " << v.sharding()->toText() << ")";
  }
  void operator()(const Pointer& v) const {
    out << "Pointer<" << v.pointeeBits() << " bits>(" << v.address() << ")";
  }
  void operator()(const Opaque& v) const { out << "Opaque<" << v.typeName() << ">"; }
  void operator()(const StructHandle& v) const {
    out << "StructHandle<" << v->type().name << ">{";
    for (size_t i = 0; i < v->values().size(); ++i) {
      out << (i == 0 ? "" : ", ") << v->type().fields[i].name << "=";
      print(out, v->values()[i]);
    }
    out << "}";
  }
  void operator()(const PolymorphicValue::Values& v) const {
    out << "{";
    for (size_t i = 0; i < v.size(); ++i) {
      out << (i == 0 ? "" : ", ");
      print(out, v[i]);
    }
    out << "}";
  }
};

void print(std::ostream& out, const PolymorphicValue& value) { visit(Printer{out}, value); }

}  // namespace

std::string toText(const PolymorphicValue& value) {
  std::ostringstream out;
  print(out, value);
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const PolymorphicValue& value) {
  if (value.isNull()) {
    throwUser(ErrorKind::Type, {"print", "Can not print a value that holds nothing", "None",
                                "test hasValue() first, or use toText"});
  }
  print(out, value);
  return out;
}

}  // namespace meshfuse
