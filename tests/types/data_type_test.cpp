// Element types as the table lists them, and compound types, which are equal by structure.
#include "meshfuse/types/data_type.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using enum PrimType;

TEST(PrimType, TableListsEachTypeTheLanguageNames) {
  std::vector<std::string_view> names;
  for (PrimType type : allPrimTypes()) {
    names.push_back(nameOf(type));
    EXPECT_EQ(primTypeFromName(nameOf(type)), type);
    EXPECT_EQ(allPrimTypes()[static_cast<size_t>(type)], type);
  }
  std::vector<std::string_view> expected = {"Double",
                                            "Float",
                                            "Half",
                                            "BFloat16",
                                            "Float8_e4m3fn",
                                            "Float8_e5m2",
                                            "Float8_e8m0fnu",
                                            "Float4_e2m1fn",
                                            "Float4_e2m1fn_x2",
                                            "Int",
                                            "Int32",
                                            "UInt64",
                                            "Index",
                                            "Bool",
                                            "ComplexFloat",
                                            "ComplexDouble",
                                            "Null"};
  EXPECT_EQ(names, expected);
}

TEST(PrimType, OtherNamesAreNotTypes) {
  for (std::string_view name : {"Int8", "UInt8", "Int16", "float", "", "float32"}) {
    EXPECT_EQ(primTypeFromName(name), std::nullopt) << name;
  }
}

TEST(PrimType, NamesAreDistinct) {
  std::set<std::string_view> torchNames;
  std::set<std::string_view> internalNames;
  size_t withTorch = 0;
  for (PrimType type : allPrimTypes()) {
    withTorch += torchNameOf(type).empty() ? 0 : 1;
    torchNames.insert(torchNameOf(type));
    internalNames.insert(internalNameOf(type));
  }
  EXPECT_EQ(torchNames.size(), withTorch + 1);
  EXPECT_EQ(internalNames.size(), allPrimTypes().size());
}

TEST(PrimType, WidthsAndCategories) {
  EXPECT_EQ(bytesOf(Double), 8);
  EXPECT_EQ(bytesOf(BFloat16), 2);
  EXPECT_EQ(bytesOf(Float8_e8m0fnu), 1);
  EXPECT_EQ(bytesOf(Float4_e2m1fn_x2), 1);
  EXPECT_EQ(bytesOf(Bool), 1);
  EXPECT_EQ(bytesOf(ComplexDouble), 16);
  EXPECT_EQ(bitsOf(Float4_e2m1fn), 4);
  EXPECT_EQ(categoryOf(Index), TypeCategory::Integral);
  EXPECT_EQ(categoryOf(UInt64), TypeCategory::Integral);
  EXPECT_EQ(categoryOf(Null), TypeCategory::None);
  EXPECT_TRUE(isIntegralOrBool(categoryOf(Bool)));
  EXPECT_FALSE(isIntegralOrBool(categoryOf(Half)));
}

TEST(PrimType, WidthsThatAreNoBytesAreRefused) {
  for (PrimType type : {Float4_e2m1fn, Index, Null}) {
    EXPECT_THROW(bytesOf(type), InternalError) << nameOf(type);
  }
}

TEST(PrimType, ReducedFloatsAreThoseBelowFloat) {
  std::set<PrimType> reduced = {Half,           BFloat16,      Float8_e4m3fn,   Float8_e5m2,
                                Float8_e8m0fnu, Float4_e2m1fn, Float4_e2m1fn_x2};
  for (PrimType type : allPrimTypes()) {
    EXPECT_EQ(isReducedFloat(type), reduced.contains(type)) << nameOf(type);
  }
  EXPECT_EQ(realTypeOf(ComplexFloat), Float);
  EXPECT_EQ(realTypeOf(ComplexDouble), Double);
  EXPECT_EQ(realTypeOf(Int), Int);
}

DataType point() {
  return DataType(StructType{"Point", {{"x", Int}, {"y", DataType(ArrayType{Double, 2}), false}}});
}

TEST(DataType, AnElementTypeIsItself) {
  DataType type = Float;
  EXPECT_TRUE(type.isPrim());
  EXPECT_EQ(type.prim(), Float);
  EXPECT_EQ(type, DataType(Float));
  EXPECT_FALSE(type == DataType(Double));
  EXPECT_EQ(type.pointer(), nullptr);
  EXPECT_EQ(type.array(), nullptr);
  EXPECT_EQ(type.structure(), nullptr);
  EXPECT_EQ(type.opaque(), nullptr);
  EXPECT_EQ(DataType().prim(), Null);
}

TEST(DataType, CompoundTypesAreEqualByStructure) {
  EXPECT_EQ(point(), point());
  EXPECT_EQ(DataType(PointerType{32}), DataType(PointerType{32}));
  EXPECT_FALSE(DataType(PointerType{32}) == DataType(PointerType{64}));
  EXPECT_EQ(DataType(ArrayType{point(), 3}), DataType(ArrayType{point(), 3}));
  EXPECT_FALSE(DataType(ArrayType{point(), 3}) == DataType(ArrayType{point(), 4}));
  EXPECT_FALSE(DataType(ArrayType{Int, 3}) == DataType(ArrayType{Double, 3}));
  EXPECT_FALSE(DataType(OpaqueType{"A", 4}) == DataType(OpaqueType{"B", 4}));
  EXPECT_FALSE(DataType(PointerType{8}) == DataType());
  EXPECT_FALSE(point() == DataType(Float));
}

TEST(DataType, StructsDifferByNameFieldOrderTypeAndUse) {
  StructType base{"A", {{"x", Int}, {"y", Double}}};
  std::vector<StructType> others(5, base);
  others[0].name = "B";
  std::swap(others[1].fields[0], others[1].fields[1]);
  others[2].fields[0].type = Bool;
  others[3].fields[1].usedInKernels = false;
  others[4].fields.pop_back();
  EXPECT_EQ(DataType(base), DataType(StructType(base)));
  for (const StructType& other : others) {
    EXPECT_FALSE(DataType(base) == DataType(other)) << DataType(other).toText();
  }
}

TEST(DataType, GivesItsDescription) {
  DataType type = point();
  EXPECT_FALSE(type.isPrim());
  EXPECT_EQ(type.prim(), Null);
  ASSERT_NE(type.structure(), nullptr);
  EXPECT_EQ(type.structure()->fields[1].type.array()->length, 2);
  EXPECT_FALSE(type.structure()->fields[1].usedInKernels);
  EXPECT_EQ(type.opaque(), nullptr);
  EXPECT_EQ(DataType(PointerType{16}).pointer()->pointeeBits, 16);
  EXPECT_EQ(DataType(OpaqueType{"Engine", 24}).opaque()->bytes, 24);
}

TEST(DataType, CopiesShareTheDescription) {
  DataType type = point();
  DataType copy = type;
  EXPECT_EQ(copy.structure(), type.structure());
  EXPECT_LE(sizeof(DataType), 24U);
}

TEST(DataType, Text) {
  EXPECT_EQ(DataType(BFloat16).toText(), "BFloat16");
  EXPECT_EQ(DataType(PointerType{32}).toText(), "Pointer(32 bits)");
  EXPECT_EQ(point().toText(), "Struct Point{x: Int, y: Array(Double, 2)}");
  EXPECT_EQ(DataType(StructType{"Empty", {}}).toText(), "Struct Empty{}");
  EXPECT_EQ(DataType(OpaqueType{"Engine", 8}).toText(), "Opaque<Engine>");
}

}  // namespace
}  // namespace meshfuse
