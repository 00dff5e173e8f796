// Values to tensors, scalars and torch's generic value and back; element types to torch's and back.
#include "meshfuse/values/conversions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/torch_types.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

template <class T>
void expectZeroDim(const PolymorphicValue& value, at::ScalarType type, T expected) {
  const at::Tensor tensor = toTensor(value);
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_EQ(tensor.scalar_type(), type);
  EXPECT_EQ(tensor.item<T>(), expected);
}

TEST(Values, B20_NumbersBecomeTensors) {
  expectZeroDim<int64_t>(3, at::kLong, 3);
  expectZeroDim<double>(2.5, at::kDouble, 2.5);
  expectZeroDim<bool>(true, at::kBool, true);
  expectZeroDim<c10::complex<double>>(Complex(1, 2), at::kComplexDouble, {1, 2});
  EXPECT_TRUE(toTensor(3, c10::kMeta).is_meta());
  const at::Tensor tensor = at::ones({2});
  EXPECT_TRUE(toTensor(tensor).is_same(tensor));
}

TEST(Values, B20_VectorsStack) {
  EXPECT_TRUE(at::equal(toTensor(Values{1, 2, 3}), at::arange(1, 4)));
  EXPECT_TRUE(
      at::equal(toTensor(Values{Values{1, 2}, Values{3, 4}}), at::arange(1, 5).reshape({2, 2})));
  EXPECT_EQ(toTensor(Values{}).sizes(), (c10::IntArrayRef{0}));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Value, [] { toTensor(Values{1, Values{1, 2}}); }),
               "must have one shape");
}

TEST(Values, B20_OthersAreNoTensors) {
  for (const PolymorphicValue& value :
       {PolymorphicValue(), PolymorphicValue(structA(1, 2.0)), PolymorphicValue(Opaque::of(1)),
        PolymorphicValue(Pointer())}) {
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { toTensor(value); }),
                 "toTensor: the value must be a number, a tensor or a vector of them: a " +
                     std::string(nameOf(value.kind())));
  }
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { toTensor(evenTensor()); }),
            "toTensor: a distributed tensor is not one tensor: DeviceMesh{0 1} cpu (S(0)); take "
            "this rank's part "
            "with local(), or redistribute to Replicate first");
}

TEST(Values, ScalarsAndValues) {
  EXPECT_TRUE(isScalar(true) && isScalar(1) && isScalar(1.0) && isScalar(Complex(1, 2)));
  EXPECT_FALSE(isScalar(PolymorphicValue()) || isScalar(at::ones({})) || isScalar(Values{1}));
  for (const Scalar& scalar : {Scalar(true), Scalar(3), Scalar(2.5), Scalar(Complex(1, 2))}) {
    EXPECT_TRUE(toScalar(PolymorphicValue(scalar)).isSame(scalar));
  }
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { toScalar(at::ones({})); }),
            "toScalar: the value must be a Bool, Int, Double or Complex: a Tensor; pass a number");
}

TEST(Values, B20_EveryKindGoesThroughIValueAndBack) {
  Values all = oneOfEach();
  all.push_back(unevenTensor());
  all.push_back(
      Values{Values{1, Values{}}, unevenTensor(), structA(3, 4.0), Values{PolymorphicValue()}});
  for (const PolymorphicValue& value : all) {
    const c10::IValue generic = toIValue(value);
    EXPECT_TRUE(isSame(IValueToPolymorphicValue(generic), value)) << nameOf(value.kind());
    EXPECT_TRUE(isSame(IValueToPolymorphicValue(toIValue(PolymorphicValue(value))), value));
  }
}

TEST(Values, B20_IValueKindsAreTorchsOwn) {
  EXPECT_TRUE(toIValue(PolymorphicValue()).isNone());
  EXPECT_TRUE(toIValue(PolymorphicValue(true)).isBool());
  EXPECT_TRUE(toIValue(PolymorphicValue(1)).isInt());
  EXPECT_TRUE(toIValue(PolymorphicValue(1.0)).isDouble());
  EXPECT_TRUE(toIValue(PolymorphicValue(Complex(1, 2))).isComplexDouble());
  EXPECT_TRUE(toIValue(PolymorphicValue(at::ones({1}))).isTensor());
  EXPECT_TRUE(toIValue(PolymorphicValue(Values{1})).isList());
  EXPECT_TRUE(toIValue(PolymorphicValue(evenTensor())).isCapsule());
}

TEST(Values, B20_ListsAndTuplesOfTorchBecomeVectors) {
  const Values expected = {1, 2};
  EXPECT_TRUE(isSame(IValueToPolymorphicValue(c10::IValue(std::vector<int64_t>{1, 2})), expected));
  EXPECT_TRUE(isSame(IValueToPolymorphicValue(c10::ivalue::Tuple::create({1, 2})), expected));
  EXPECT_TRUE(isSame(IValueToPolymorphicValue(c10::IValue(std::vector<double>{0.5})), Values{0.5}));
  EXPECT_TRUE(IValueToPolymorphicValue(c10::IValue(at::Tensor())).isNull());
}

TEST(Values, B20_OtherIValuesAreRefusedByName) {
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { IValueToPolymorphicValue(c10::IValue("text")); }),
            "IValueToPolymorphicValue: the value must be a number, a tensor, None, a list or a "
            "tuple: a String; "
            "convert it before it is passed");
  struct Foreign : torch::CustomClassHolder {};
  const c10::IValue capsule = c10::IValue::make_capsule(c10::make_intrusive<Foreign>());
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { IValueToPolymorphicValue(capsule); }),
               "a capsule of another library");
}

TEST(Values, TorchDtypesThereAndBack) {
  EXPECT_EQ(torchDtype(PrimType::Float), at::kFloat);
  EXPECT_EQ(torchDtype(PrimType::Int), at::kLong);
  EXPECT_EQ(torchDtype(PrimType::Int32), at::kInt);
  EXPECT_EQ(torchDtype(PrimType::ComplexFloat), at::kComplexFloat);
  for (const PrimType type : allPrimTypes()) {
    if (torchNameOf(type).empty()) {
      EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { torchDtype(type); }),
                   "DataType." + std::string(nameOf(type)));
      continue;
    }
    const at::ScalarType torch = torchDtype(type);
    EXPECT_EQ(primTypeOf(torch), type);
    EXPECT_EQ(static_cast<int64_t>(c10::elementSize(torch)), bytesOf(type)) << nameOf(type);
  }
}

TEST(Values, DtypesTheLanguageLacksAreRefusedByName) {
  for (const at::ScalarType type :
       {at::kChar, at::kByte, at::kShort, at::kQInt8, at::kComplexHalf}) {
    EXPECT_FALSE(findPrimTypeOf(type).has_value());
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { primTypeOf(type); }),
                 std::string("a tensor of dtype ") + c10::toString(type));
  }
}

TEST(Values, MeshDevices) {
  for (const MeshDevice device : {MeshDevice::Cpu, MeshDevice::Cuda, MeshDevice::Meta}) {
    EXPECT_EQ(meshDeviceOf(deviceTypeOf(device)), device);
    EXPECT_EQ(c10::DeviceTypeName(deviceTypeOf(device), /*lower_case=*/true), nameOf(device));
  }
  EXPECT_FALSE(meshDeviceOf(c10::DeviceType::XLA).has_value());
}

}  // namespace
}  // namespace meshfuse::testing
