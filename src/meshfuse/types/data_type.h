// Element types, and the types of values that are not elements (pointers, structs, arrays, opaque).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshfuse {

/// The type of a tensor's element or of a scalar (data_types.def).
enum class PrimType : uint8_t {
#define MESHFUSE_DATA_TYPE(name, bits, category, torch_name, internal_name) name,
#include "meshfuse/types/data_types.def"
#undef MESHFUSE_DATA_TYPE
};

/// Every element type, in the order of the table.
std::span<const PrimType> allPrimTypes() noexcept;

enum class TypeCategory : uint8_t { None, Boolean, Integral, Floating, Complex };

TypeCategory categoryOf(PrimType type) noexcept;
/// Width of one element in bits; 0 for Null and Index.
int64_t bitsOf(PrimType type) noexcept;
/// Width of one element in bytes; throws InternalError for types without a whole number of bytes.
int64_t bytesOf(PrimType type);
/// The language's name, `Float`.
std::string_view nameOf(PrimType type) noexcept;
/// The name used in error texts, `float`, `__half`, `int64_t`.
std::string_view internalNameOf(PrimType type) noexcept;
/// The attribute of `torch` that holds the type, `float32`; empty where torch has none.
std::string_view torchNameOf(PrimType type) noexcept;
/// The type of that name in the language; nullopt if there is none.
std::optional<PrimType> primTypeFromName(std::string_view name) noexcept;

constexpr bool isIntegralOrBool(TypeCategory c) noexcept {
  return c == TypeCategory::Integral || c == TypeCategory::Boolean;
}
/// Half, BFloat16 and the 8- and 4-bit floats: types whose arithmetic is done in Float.
bool isReducedFloat(PrimType type) noexcept;
/// Float for ComplexFloat, Double for ComplexDouble, the type itself otherwise.
PrimType realTypeOf(PrimType type) noexcept;

struct PointerType;
struct ArrayType;
struct StructType;
struct OpaqueType;

/// The type of any value: an element type, or a pointer, array, struct or opaque type built from
/// others. Equality is structural. Copying is cheap (an element type and a shared pointer that is
/// null for element types).
class DataType {
 public:
  // An element type is a type: NOLINTNEXTLINE(google-explicit-constructor)
  DataType(PrimType type = PrimType::Null) noexcept : prim_(type) {}
  explicit DataType(PointerType type);
  explicit DataType(ArrayType type);
  explicit DataType(StructType type);
  explicit DataType(OpaqueType type);

  bool isPrim() const noexcept { return compound_ == nullptr; }
  /// The element type; Null when this is a compound type.
  PrimType prim() const noexcept { return prim_; }
  const PointerType* pointer() const noexcept;
  const ArrayType* array() const noexcept;
  const StructType* structure() const noexcept;
  const OpaqueType* opaque() const noexcept;

  /// `Float`, `Pointer(32 bits)`, `Array(Int, 3)`, `Struct A{x: Int, y: Double}`, `Opaque<Name>`.
  std::string toText() const;
  friend bool operator==(const DataType& a, const DataType& b) noexcept;

 private:
  struct Compound;  // one of the four, once they are complete
  PrimType prim_ = PrimType::Null;
  std::shared_ptr<const Compound> compound_;
};

/// A pointer to elements of `pointeeBits` bits.
struct PointerType {
  int64_t pointeeBits = 8;
  bool operator==(const PointerType&) const = default;
};

/// `length` values of one type.
struct ArrayType {
  DataType element;
  int64_t length = 0;
  bool operator==(const ArrayType&) const = default;
};

/// One named field of a struct. Fields that no kernel uses are left out of a kernel argument's
/// bytes.
struct StructField {
  std::string name;
  DataType type;
  bool usedInKernels = true;
  bool operator==(const StructField&) const = default;
};

/// A struct's name and ordered fields; the description alone makes an instance.
struct StructType {
  std::string name;
  std::vector<StructField> fields;
  bool operator==(const StructType&) const = default;
};

/// A C++ value whose content the language cannot see, named by its C++ type.
struct OpaqueType {
  std::string name;
  int64_t bytes = 0;
  bool operator==(const OpaqueType&) const = default;
};

}  // namespace meshfuse
