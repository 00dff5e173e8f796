#include "meshfuse/types/data_type.h"

#include <utility>
#include <variant>

#include "meshfuse/base/error.h"

namespace meshfuse {

struct DataType::Compound {
  std::variant<PointerType, ArrayType, StructType, OpaqueType> type;
};

namespace {

struct PrimTypeRow {
  PrimType type;
  std::string_view name;
  int64_t bits;
  TypeCategory category;
  std::string_view torchName;
  std::string_view internalName;
};

constexpr PrimTypeRow kRows[] = {
#define MESHFUSE_DATA_TYPE(name, bits, category, torch_name, internal_name) \
  {PrimType::name, #name, bits, TypeCategory::category, torch_name, internal_name},
#include "meshfuse/types/data_types.def"
#undef MESHFUSE_DATA_TYPE
};

constexpr PrimType kTypes[] = {
#define MESHFUSE_DATA_TYPE(name, bits, category, torch_name, internal_name) PrimType::name,
#include "meshfuse/types/data_types.def"
#undef MESHFUSE_DATA_TYPE
};

const PrimTypeRow& rowOf(PrimType type) noexcept { return kRows[static_cast<size_t>(type)]; }

std::string textOf(const PointerType& type) {
  return "Pointer(" + std::to_string(type.pointeeBits) + " bits)";
}

std::string textOf(const ArrayType& type) {
  return "Array(" + type.element.toText() + ", " + std::to_string(type.length) + ")";
}

std::string textOf(const StructType& type) {
  std::string out = "Struct " + type.name + "{";
  for (const StructField& field : type.fields) {
    out.append(&field == type.fields.data() ? "" : ", ").append(field.name).append(": ");
    out.append(field.type.toText());
  }
  return out + "}";
}

std::string textOf(const OpaqueType& type) { return "Opaque<" + type.name + ">"; }

}  // namespace

std::span<const PrimType> allPrimTypes() noexcept { return kTypes; }

TypeCategory categoryOf(PrimType type) noexcept { return rowOf(type).category; }
int64_t bitsOf(PrimType type) noexcept { return rowOf(type).bits; }
std::string_view nameOf(PrimType type) noexcept { return rowOf(type).name; }
std::string_view internalNameOf(PrimType type) noexcept { return rowOf(type).internalName; }
std::string_view torchNameOf(PrimType type) noexcept { return rowOf(type).torchName; }

int64_t bytesOf(PrimType type) {
  int64_t bits = bitsOf(type);
  internalCheck(bits > 0 && bits % 8 == 0, "an element has a whole number of bytes");
  return bits / 8;
}

std::optional<PrimType> primTypeFromName(std::string_view name) noexcept {
  for (const PrimTypeRow& row : kRows) {
    if (row.name == name) {
      return row.type;
    }
  }
  return std::nullopt;
}

bool isReducedFloat(PrimType type) noexcept {
  return categoryOf(type) == TypeCategory::Floating && bitsOf(type) < 32;
}

PrimType realTypeOf(PrimType type) noexcept {
  switch (type) {
    case PrimType::ComplexFloat:
      return PrimType::Float;
    case PrimType::ComplexDouble:
      return PrimType::Double;
    default:
      return type;
  }
}

DataType::DataType(PointerType type)
    : compound_(std::make_shared<const Compound>(Compound{type})) {}
DataType::DataType(ArrayType type)
    : compound_(std::make_shared<const Compound>(Compound{std::move(type)})) {}
DataType::DataType(StructType type)
    : compound_(std::make_shared<const Compound>(Compound{std::move(type)})) {}
DataType::DataType(OpaqueType type)
    : compound_(std::make_shared<const Compound>(Compound{std::move(type)})) {}

const PointerType* DataType::pointer() const noexcept {
  return isPrim() ? nullptr : std::get_if<PointerType>(&compound_->type);
}
const ArrayType* DataType::array() const noexcept {
  return isPrim() ? nullptr : std::get_if<ArrayType>(&compound_->type);
}
const StructType* DataType::structure() const noexcept {
  return isPrim() ? nullptr : std::get_if<StructType>(&compound_->type);
}
const OpaqueType* DataType::opaque() const noexcept {
  return isPrim() ? nullptr : std::get_if<OpaqueType>(&compound_->type);
}

std::string DataType::toText() const {
  if (isPrim()) {
    return std::string(nameOf(prim_));
  }
  return std::visit([](const auto& type) { return textOf(type); }, compound_->type);
}

bool operator==(const DataType& a, const DataType& b) noexcept {
  if (a.isPrim() || b.isPrim()) {
    return a.isPrim() && b.isPrim() && a.prim_ == b.prim_;
  }
  return a.compound_ == b.compound_ || a.compound_->type == b.compound_->type;
}

}  // namespace meshfuse
