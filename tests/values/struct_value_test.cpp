// Structs: shared fields by name; visiting values; data types of values.
#include "meshfuse/values/struct_value.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/value_print.h"
#include "meshfuse/values/value_types.h"
#include "meshfuse/values/value_visit.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

TEST(Values, A25_B03_FieldsThroughTheHandle) {
  const StructHandle handle = structA(1, 2.0);
  static_assert(std::is_same_v<decltype(handle->field<double>("y")), double&>);
  handle->field<double>("y") = 3.5;
  const PolymorphicValue value = handle;
  const PolymorphicValue copy = value;
  EXPECT_EQ(copy->field("y").as<double>(), 3.5);
  copy->field<int64_t>("x") += 4;
  EXPECT_EQ(handle->field("x").as<int64_t>(), 5);
  EXPECT_THROW(handle->field<double>("x"), UserError);
}

TEST(Values, B04_StructDescribesItself) {
  const StructHandle handle = structA(1, 2.0);
  const StructType& type = handle->type();
  EXPECT_EQ(type.name, "A");
  ASSERT_EQ(type.fields.size(), 2U);
  EXPECT_EQ(type.fields[0], (StructField{"x", PrimType::Int, true}));
  EXPECT_EQ(type.fields[1], (StructField{"y", PrimType::Double, true}));
}

TEST(Values, A26_B05_FieldsByName) {
  StructHandle handle(
      StructType{"B", {{"n", PrimType::Int, true}, {"tag", PrimType::Bool, false}}});
  EXPECT_TRUE(handle["n"].get().isNull());
  handle["n"] = 3;
  handle["tag"] = true;
  const PolymorphicValue read = handle["n"];
  EXPECT_EQ(read.as<int64_t>(), 3);
  handle["n"] = handle["n"];
  EXPECT_EQ(handle["n"].get().as<int64_t>(), 3);
  EXPECT_EQ(
      userErrorText(ErrorKind::Index, [&] { handle["m"] = 1; }),
      "struct field: the name must be a field of the struct: 'm' in struct 'B'; use one of n, tag");
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Index, [] { StructHandle(StructType{"E", {}})["m"]; }),
               "the struct has no fields");
}

TEST(Values, B23_FieldRefusesWhatDoesNotFit) {
  StructHandle handle = structA(1, 2.0);
  EXPECT_EQ(userErrorText(ErrorKind::Type, [&] { handle["x"] = 2.5; }),
            "struct field: the value is not compatible with the field's type: a Double for field "
            "'x' of type " +
                DataType(PrimType::Int).toText() + "; write a value of the field's type");
  EXPECT_EQ(handle["x"].get().as<int64_t>(), 1);
  handle["x"] = PolymorphicValue();
  EXPECT_TRUE(handle["x"].get().isNull());
}

TEST(Values, A27_ABoundHandleKeepsTheStructAlive) {
  PolymorphicValue value = structA(1, 2.0);
  const FieldReference field = value.as<StructHandle>()["x"];
  value = PolymorphicValue();
  EXPECT_EQ(field.get().as<int64_t>(), 1);
}

struct CountsDeaths {
  explicit CountsDeaths(int* deaths) : deaths(deaths) {}
  CountsDeaths(CountsDeaths&& other) noexcept : deaths(std::exchange(other.deaths, nullptr)) {}
  CountsDeaths(const CountsDeaths&) = delete;
  ~CountsDeaths() {
    if (deaths != nullptr) {
      ++*deaths;
    }
  }
  int* deaths;
};

TEST(Values, A28_ObjectsDieOnce) {
  int deaths = 0;
  {
    PolymorphicValue value = Opaque::of(CountsDeaths(&deaths));
    StructHandle handle(StructType{"Holder", {{"o", value.as<Opaque>().dataType(), true}}});
    handle["o"] = value;
    const PolymorphicValue vector = Values{value, handle, Values{value}};
    const PolymorphicValue copy = vector;
    value = 1;
    EXPECT_EQ(deaths, 0);
  }
  EXPECT_EQ(deaths, 1);
}

TEST(Values, A28_ArrowNeedsAStruct) {
  const PolymorphicValue value = 3;
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { (void)value->type(); }),
               "Cannot dereference ");
}

TEST(Values, A29_VisitCallsWithThePlainValue) {
  const Values all = oneOfEach();
  for (const PolymorphicValue& value : all) {
    visit(
        [&](const auto& plain) {
          using T = std::decay_t<decltype(plain)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            EXPECT_TRUE(value.isNull());
          } else {
            EXPECT_TRUE(value.is<T>());
          }
        },
        value);
  }
  const PolymorphicValue product = visit(
      [](const auto& a, const auto& b) -> PolymorphicValue {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(a)>> &&
                      std::is_arithmetic_v<std::decay_t<decltype(b)>>) {
          return PolymorphicValue(a * b);
        } else {
          return PolymorphicValue();
        }
      },
      PolymorphicValue(3), PolymorphicValue(2.5));
  EXPECT_EQ(product.as<double>(), 7.5);
}

TEST(Values, A30_VisitResultType) {
  const auto kindIndex = [](const auto&) { return 1; };
  static_assert(std::is_same_v<decltype(visit(kindIndex, PolymorphicValue())), int>);
  const auto nothing = [](const auto&) {};
  static_assert(std::is_void_v<decltype(visit(nothing, PolymorphicValue()))>);
  const auto differs = [](const auto& plain) {
    if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, bool>) {
      return 1;
    } else {
      return 0.5;
    }
  };
  static_assert(std::is_same_v<decltype(visit(differs, PolymorphicValue())), PolymorphicValue>);
  EXPECT_TRUE(visit(differs, true).is<int64_t>());
  EXPECT_TRUE(visit(differs, 2).is<double>());
  int outside = 0;
  const auto reference = [&](const auto&) -> int& { return outside; };
  static_assert(std::is_same_v<decltype(visit(reference, PolymorphicValue())), int&>);
  EXPECT_EQ(&visit(reference, 3), &outside);
  const auto onlyNumbers = [](const auto& plain) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(plain)>>) {
      return 1;
    }
  };
  static_assert(std::is_same_v<decltype(visit(onlyNumbers, PolymorphicValue())), int>);
  EXPECT_EQ(visit(onlyNumbers, 2.5), 1);
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { visit(onlyNumbers, Values{}); }),
               "every kind must give a result when one does");
}

TEST(Values, B22_DataTypeOfAValue) {
  EXPECT_EQ(dataTypeOf(true), DataType(PrimType::Bool));
  EXPECT_EQ(dataTypeOf(1), DataType(PrimType::Int));
  EXPECT_EQ(dataTypeOf(1.0), DataType(PrimType::Double));
  EXPECT_EQ(dataTypeOf(Complex(1, 2)), DataType(PrimType::ComplexDouble));
  EXPECT_EQ(dataTypeOf(at::ones({2}, at::kBFloat16)), DataType(PrimType::BFloat16));
  EXPECT_EQ(dataTypeOf(evenTensor()), DataType(PrimType::Float));
  EXPECT_EQ(dataTypeOf(Values{1, 2}), DataType(ArrayType{PrimType::Int, 2}));
  EXPECT_EQ(dataTypeOf(structA(1, 2.0)), DataType(structA(0, 0)->type()));
  EXPECT_EQ(dataTypeOf(Pointer(nullptr, 16U)), DataType(PointerType{16}));
  EXPECT_EQ(dataTypeOf(Opaque::of(1)), DataType(OpaqueType{"int", 4}));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { dataTypeOf(Values{}); }),
               "an empty vector");
  EXPECT_THROW(dataTypeOf(Values{1, 2.0}), UserError);
  EXPECT_THROW(dataTypeOf(PolymorphicValue()), UserError);
}

TEST(Values, B23_Fits) {
  EXPECT_TRUE(fits(1, PrimType::Int32));
  EXPECT_TRUE(fits(1, PrimType::Index));
  EXPECT_TRUE(fits(1.0, PrimType::Half));
  EXPECT_TRUE(fits(Complex(1, 2), PrimType::ComplexFloat));
  EXPECT_TRUE(fits(true, PrimType::Bool));
  EXPECT_FALSE(fits(1, PrimType::Float));
  EXPECT_FALSE(fits(1.0, PrimType::Int));
  EXPECT_FALSE(fits(1.0, PrimType::ComplexDouble));
  EXPECT_FALSE(fits(PolymorphicValue(), PrimType::Int));
  EXPECT_FALSE(fits(1, PrimType::Null));
  EXPECT_TRUE(fits(at::ones({2}), PrimType::Float));
  EXPECT_FALSE(fits(at::ones({2}), PrimType::Double));
  const DataType pair(ArrayType{PrimType::Int, 2});
  EXPECT_TRUE(fits(Values{1, 2}, pair));
  EXPECT_FALSE(fits(Values{1}, pair));
  EXPECT_FALSE(fits(Values{1, 2.0}, pair));
  EXPECT_TRUE(fits(Values{}, DataType(ArrayType{PrimType::Int, 0})));
  EXPECT_TRUE(fits(structA(1, 2.0), DataType(structA(0, 0)->type())));
  EXPECT_FALSE(fits(structA(1, 2.0), DataType(StructType{"A", {{"x", PrimType::Int, true}}})));
  EXPECT_TRUE(fits(Pointer(nullptr, 16U), DataType(PointerType{16})));
  EXPECT_FALSE(fits(Pointer(nullptr, 16U), DataType(PointerType{32})));
}

TEST(Values, B23_CastToDtype) {
  EXPECT_EQ(castToDtype(3, PrimType::Float).as<double>(), 3.0);
  EXPECT_EQ(castToDtype(2.9, PrimType::Int).as<int64_t>(), 2);
  EXPECT_TRUE(castToDtype(2, PrimType::Bool).as<bool>());
  EXPECT_EQ(castToDtype(2, PrimType::ComplexDouble).as<Complex>(), Complex(2, 0));
  EXPECT_EQ(castToDtype(at::ones({2}), PrimType::Half).asTensor().scalar_type(), at::kHalf);
  const PolymorphicValue cast = castToDtype(Values{1, 2}, DataType(ArrayType{PrimType::Double, 2}));
  EXPECT_TRUE(cast[0].is<double>());
  EXPECT_TRUE(isSame(castToDtype(Values{}, DataType(ArrayType{PrimType::Int, 0})), Values{}));
  EXPECT_EQ(userErrorText(ErrorKind::Type,
                          [] { castToDtype(Values{}, DataType(ArrayType{PrimType::Int, 2})); }),
            "cast: the value is not compatible with the type: {} (a Vector) for " +
                DataType(ArrayType{PrimType::Int, 2}).toText() + "; pass a value that fits " +
                DataType(ArrayType{PrimType::Int, 2}).toText());
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Type, [] { castToDtype(Values{1}, PrimType::Int); }),
               "not compatible");
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Type, [] { castToDtype(1, DataType(PointerType{8})); }),
               "not compatible");
}

TEST(Values, CastOfDistributedTensors) {
  const PolymorphicValue cast = castToDtype(unevenTensor(), PrimType::Double);
  const DistributedTensor& tensor = cast.as<DistributedTensor>();
  EXPECT_EQ(tensor.scalarType(), at::kDouble);
  EXPECT_EQ(tensor.sizes(), (c10::DimVector{5, 3}));
  const ShardingId partial =
      intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::partial()}));
  const PolymorphicValue sum = DistributedTensor(at::ones({2}), partial);
  EXPECT_TRUE(isSame(castToDtype(sum, PrimType::Float), sum));
  EXPECT_EQ(userErrorText(ErrorKind::Type, [&] { castToDtype(sum, PrimType::Int); }),
            "cast: a partial value cannot change its type before it is reduced: DeviceMesh{0 1} "
            "cpu (P(sum)); "
            "redistribute to Replicate or Shard first");
}

}  // namespace
}  // namespace meshfuse::testing
