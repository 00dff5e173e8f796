// The bytes of kernel arguments, against the C++ types a kernel declares.
#include "meshfuse/values/argument_bytes.h"

#include <cstring>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/kernel_argument_holder.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/torch_types.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

using Bytes = std::vector<std::byte>;
using Ints = std::vector<int64_t>;

template <class... T>
Bytes bytesOfAll(const T&... plain) {
  Bytes out;
  (
      [&] {
        const auto* first = reinterpret_cast<const std::byte*>(&plain);
        out.insert(out.end(), first, first + sizeof(plain));
      }(),
      ...);
  return out;
}

Bytes bytesOf(const PolymorphicValue& value, const DataType& type, PrimType index = PrimType::Int) {
  return argumentBytes(value, type, index);
}

TEST(Values, D06_Integers) {
  EXPECT_EQ(bytesOf(5, PrimType::Int), bytesOfAll(int64_t{5}));
  EXPECT_EQ(bytesOf(-5, PrimType::Int32), bytesOfAll(int32_t{-5}));
  EXPECT_EQ(bytesOf(5, PrimType::UInt64), bytesOfAll(uint64_t{5}));
  EXPECT_EQ(bytesOf(5, PrimType::Index), bytesOfAll(int64_t{5}));
  EXPECT_EQ(bytesOf(5, PrimType::Index, PrimType::Int32), bytesOfAll(int32_t{5}));
  EXPECT_EQ(userErrorText(ErrorKind::Value, [] { bytesOf(int64_t{1} << 31, PrimType::Int32); }),
            "argument bytes: an index must fit the index type: 2147483648 as Int32; use Int as the "
            "index type");
}

TEST(Values, D06_FloatingPoint) {
  EXPECT_EQ(bytesOf(2.1, PrimType::Double), bytesOfAll(2.1));
  EXPECT_EQ(bytesOf(2.1, PrimType::Float), bytesOfAll(2.1F));
  for (const PrimType type : {PrimType::Half, PrimType::BFloat16, PrimType::Float8_e4m3fn,
                              PrimType::Float8_e5m2, PrimType::Float8_e8m0fnu}) {
    const at::Tensor rounded = at::full({}, 2.1, at::kFloat).to(torchDtype(type));
    const Bytes bytes = bytesOf(2.1, type);
    ASSERT_EQ(bytes.size(), rounded.element_size());
    EXPECT_EQ(std::memcmp(bytes.data(), rounded.const_data_ptr(), bytes.size()), 0) << nameOf(type);
  }
}

TEST(Values, D06_OtherScalars) {
  EXPECT_EQ(bytesOf(Complex(1, 2), PrimType::ComplexDouble), bytesOfAll(1.0, 2.0));
  EXPECT_EQ(bytesOf(Complex(1, 2), PrimType::ComplexFloat), bytesOfAll(1.0F, 2.0F));
  EXPECT_EQ(bytesOf(true, PrimType::Bool), bytesOfAll(uint8_t{1}));
  int pointee = 0;
  EXPECT_EQ(bytesOf(Pointer(&pointee), DataType(PointerType{32})), bytesOfAll(&pointee));
  EXPECT_EQ(bytesOf(Opaque::of(int32_t{7}), Opaque::of(int32_t{7}).dataType()),
            bytesOfAll(int32_t{7}));
}

TEST(Values, D06_ArraysAndStructs) {
  EXPECT_EQ(bytesOf(Values{1, 2}, DataType(ArrayType{PrimType::Int32, 2})),
            bytesOfAll(int32_t{1}, int32_t{2}));
  const StructType type{
      "S",
      {{"n", PrimType::Int32, true}, {"host", PrimType::Int, false}, {"x", PrimType::Float, true}}};
  StructHandle handle(type);
  handle["n"] = 3;
  handle["x"] = 0.5;
  EXPECT_EQ(bytesOf(handle, DataType(type)), bytesOfAll(int32_t{3}, 0.5F));
}

TEST(Values, D06_ZeroDimCpuTensorIsItsElement) {
  EXPECT_EQ(bytesOf(at::full({}, 2.5, at::kFloat), PrimType::Float), bytesOfAll(2.5F));
  EXPECT_EQ(bytesOf(at::full({}, 3, at::kLong), PrimType::Int), bytesOfAll(int64_t{3}));
}

TEST(Values, D06_OtherMixesNameBothSides) {
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { bytesOf(1, PrimType::Float); }),
            "argument bytes: the value cannot be passed as the type: 1 (a Int) as " +
                DataType(PrimType::Float).toText() + "; pass a value of the type");
  for (const auto& [value, type] : std::vector<std::pair<PolymorphicValue, DataType>>{
           {2.5, PrimType::Int},
           {true, PrimType::Int},
           {PolymorphicValue(), PrimType::Int},
           {Complex(1, 2), PrimType::Double},
           {at::ones({2}), PrimType::Double},
           {Values{1}, DataType(ArrayType{PrimType::Int, 2})},
           {structA(1, 2.0), DataType(StructType{"A", {}})},
           {Pointer(), DataType(PointerType{64})},
           {Opaque::of(1), PrimType::Int}}) {
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { bytesOf(value, type); }),
                 "(a " + std::string(nameOf(value.kind())) + ") as " + type.toText());
  }
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Type, [] { bytesOf(1, PrimType::Int, PrimType::Float); }),
               "the index type must be Int or Int32");
}

TEST(Values, D07_TensorIsAddressSizesStrides) {
  const at::Tensor tensor = at::ones({2, 3}).t();
  const void* data = tensor.const_data_ptr();
  EXPECT_EQ(bytesOf(tensor, PrimType::Float),
            bytesOfAll(data, int64_t{3}, int64_t{2}, int64_t{1}, int64_t{3}));
  EXPECT_EQ(bytesOf(tensor, PrimType::Float, PrimType::Int32), bytesOfAll(data, 3, 2, 1, 3));
  const at::Tensor meta = tensor.to(c10::kMeta);
  EXPECT_EQ(bytesOf(meta, PrimType::Float, PrimType::Int32), bytesOfAll(uint64_t{0}, 3, 2, 1, 3));
}

TEST(Values, D07_PackedTypesCountElements) {
  const at::Tensor packed = at::empty({2, 3}, at::kByte).view(at::kFloat4_e2m1fn_x2);
  const void* data = packed.const_data_ptr();
  EXPECT_EQ(bytesOf(packed, PrimType::Float4_e2m1fn_x2, PrimType::Int32),
            bytesOfAll(data, 2, 6, 6, 1));
}

TEST(Values, D07_DistributedTensorsPassGlobalSizes) {
  for (const DistributedTensor& tensor : {evenTensor(), unevenTensor()}) {
    const void* data = tensor.local().const_data_ptr();
    const auto rows = static_cast<int32_t>(tensor.size(0));
    EXPECT_EQ(bytesOf(tensor, PrimType::Float, PrimType::Int32), bytesOfAll(data, rows, 3, 3, 1));
  }
}

TEST(Values, D07_BytesOfAHolder) {
  const at::Tensor tensor = at::ones({2});
  const KernelArgumentHolder holder(tensor, 3, 0.5);
  const std::vector<Bytes> image = holder.toBytes(PrimType::Int32);
  ASSERT_EQ(image.size(), 3U);
  EXPECT_EQ(image[0], bytesOfAll(tensor.const_data_ptr(), 2, 1));
  EXPECT_EQ(image[1], bytesOfAll(int64_t{3}));
  EXPECT_EQ(image[2], bytesOfAll(0.5));
  EXPECT_THROW(KernelArgumentHolder(PolymorphicValue()).toBytes(PrimType::Int32), UserError);
}

}  // namespace
}  // namespace meshfuse::testing
