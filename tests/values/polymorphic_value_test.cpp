// The value itself: kinds, access, conversion, containers, size and moves.
//
// Names carry the points of the value checklist. Where the checklist speaks of a set of types that a program chooses, this class
// has a fixed one; such a point means here:
//   A3   only what is needed is instantiated: no constant expressions, since every value may own a reference
//   A10  operators exist for all kinds and refuse at run time; conversions to foreign types do not compile
//   A17  the one pointer-like kind is the struct handle
//   A20, A21  nested braces of std::vector<PolymorphicValue>
//   A24  move-only members cannot be held (Opaque holds move-only objects behind a shared handle)
//   A25 to A28  field access by name, and the arrow of a struct (struct_value_test.cpp)
//   A29, A30  visit (value_visit_test.cpp); A31  forEachMemberType
#include "meshfuse/values/polymorphic_value.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "meshfuse/values/arithmetic.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/value_visit.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

using Kind = PolymorphicValue::Kind;

TEST(Values, A01_DefaultIsNull) {
  EXPECT_TRUE(PolymorphicValue().isNull());
  EXPECT_FALSE(PolymorphicValue().hasValue());
  const Values all = oneOfEach();
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_FALSE(all[i].isNull()) << i;
    EXPECT_TRUE(all[i].hasValue()) << i;
  }
}

TEST(Values, A03_OnlyWhatIsNeededIsInstantiated) {
  // Opaque holds a type that can be neither copied nor compared nor printed.
  struct Bare {
    explicit Bare(int n) : number(n) {}
    Bare(Bare&&) = default;
    Bare(const Bare&) = delete;
    int number;
  };
  const PolymorphicValue value = Opaque::of(Bare(3));
  EXPECT_EQ(value.as<Opaque>().as<Bare>().number, 3);
}

template <class T>
concept CanBeAsked = requires(const PolymorphicValue& v) { v.is<T>(); };

TEST(Values, A04_IsAndAs) {
  static_assert(CanBeAsked<int64_t> && CanBeAsked<StructHandle>);
  static_assert(!CanBeAsked<float> && !CanBeAsked<std::string>);
  const Values all = oneOfEach();
  ASSERT_EQ(all.size(), static_cast<size_t>(kValueKinds));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all[i].kind()), i);
    forEachMemberType([&](auto tag) {
      using T = typename decltype(tag)::type;
      const bool held = KindOf<T>::value == all[i].kind();
      EXPECT_EQ(all[i].is<T>(), held);
      if (!held) {
        EXPECT_THROW((void)all[i].as<T>(), UserError);
      }
    });
  }
  PolymorphicValue number = 3;
  number.as<int64_t>() = 4;
  EXPECT_EQ(number.as<int64_t>(), 4);
  EXPECT_EQ(userErrorText(ErrorKind::Type, [&] { (void)number.as<double>(); }),
            "PolymorphicValue.as: the kind asked for must be the kind held: held Int, asked for "
            "Double; test the "
            "kind first, or convert with to<T>()");
}

template <class T>
concept CanBecome = requires(const PolymorphicValue& v) { static_cast<T>(v); };

TEST(Values, A05_ConversionToPlainTypes) {
  EXPECT_EQ(PolymorphicValue(3).to<double>(), 3.0);
  EXPECT_EQ(static_cast<double>(PolymorphicValue(3)), 3.0);
  EXPECT_EQ(static_cast<float>(PolymorphicValue(2.5)), 2.5F);
  EXPECT_EQ(PolymorphicValue(2.9).to<int64_t>(), 2);
  EXPECT_EQ(PolymorphicValue(true).to<int>(), 1);
  EXPECT_TRUE(PolymorphicValue(Complex(0, 1)).to<bool>());
  EXPECT_EQ(PolymorphicValue(3).to<Complex>(), Complex(3, 0));
  for (const PolymorphicValue& value :
       {PolymorphicValue(), PolymorphicValue(at::ones({2})), PolymorphicValue(Values{1})}) {
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { (void)value.to<double>(); }),
                 "Result is dynamic but not convertible to result type");
  }
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Value, [] { (void)PolymorphicValue(1e30).to<int64_t>(); }),
               "1e+30");
  static_assert(!CanBecome<std::string>);
}

struct Celsius {
  double degrees;
  // Implicit: the conversion is what is tested.
  operator PolymorphicValue() const { return degrees; }  // NOLINT(google-explicit-constructor)
};

TEST(Values, A06_ForeignTypeInitialises) {
  const PolymorphicValue value = Celsius{21.5};
  EXPECT_EQ(value.as<double>(), 21.5);
}

TEST(Values, A07_ForeignTypeIsAnOperand) {
  EXPECT_EQ((PolymorphicValue(1) + Celsius{2.5}).as<double>(), 3.5);
  EXPECT_EQ((Celsius{2.5} * PolymorphicValue(2)).as<double>(), 5.0);
}

TEST(Values, A17_DereferenceReachesTheStruct) {
  const PolymorphicValue value = structA(1, 2.0);
  (*value).field<int64_t>("x") = 5;
  EXPECT_EQ((*value).field("x").as<int64_t>(), 5);
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { *PolymorphicValue(3); }),
               "Cannot dereference ");
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { *PolymorphicValue(); }),
               "Cannot dereference ");
}

TEST(Values, A18_VectorIndexing) {
  PolymorphicValue value = Values{1, 2.5, true};
  const PolymorphicValue& constant = value;
  EXPECT_EQ(constant[1].as<double>(), 2.5);
  EXPECT_EQ(constant[PolymorphicValue(1)].as<double>(), 2.5);
  EXPECT_EQ(constant[PolymorphicValue(true)].as<double>(), 2.5);
  value[0] = 9;
  value[PolymorphicValue(2)] = 8;
  EXPECT_EQ(value, PolymorphicValue(Values{9, 2.5, 8}));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { (void)PolymorphicValue(3)[0]; }),
               "Cannot index ");
  EXPECT_PRED2(
      contains,
      userErrorText(ErrorKind::Type, [] { (void)PolymorphicValue()[PolymorphicValue(0)]; }),
      "Cannot index ");
  EXPECT_EQ(userErrorText(ErrorKind::Index, [&] { (void)constant[3]; }),
            "operator[]: the position must lie inside the vector: 3 for 3 elements; use 0 to 2");
  EXPECT_THROW((void)constant[-1], UserError);
  EXPECT_THROW((void)constant[std::numeric_limits<int64_t>::min()], UserError);
  EXPECT_EQ(userErrorText(ErrorKind::Type, [&] { (void)constant[PolymorphicValue(1.0)]; }),
            "operator[]: a position must be an integer: a Double; index with an Int");
}

TEST(Values, A18_VectorIsCopiedWhenChanged) {
  PolymorphicValue a = Values{1, 2};
  PolymorphicValue b = a;
  b[0] = 5;
  b.as<Values>().push_back(6);
  EXPECT_EQ(a, PolymorphicValue(Values{1, 2}));
  EXPECT_EQ(b, PolymorphicValue(Values{5, 2, 6}));
  PolymorphicValue c = Complex(1, 2);
  PolymorphicValue d = c;
  d.as<Complex>() = Complex(3, 4);
  EXPECT_EQ(c.as<Complex>(), Complex(1, 2));
  EXPECT_EQ(d.as<Complex>(), Complex(3, 4));
}

TEST(Values, A19_NestedVectorsOfPlainValues) {
  using Deep = std::vector<std::vector<std::vector<std::vector<int>>>>;
  using DeepDouble = std::vector<std::vector<std::vector<std::vector<double>>>>;
  const Deep in = {{{{1, 2}, {3}}, {{}}}, {{{4}}}};
  const PolymorphicValue value = in;
  EXPECT_EQ(value[0][0][0][1].as<int64_t>(), 2);
  EXPECT_EQ(value.to<Deep>(), in);
  EXPECT_EQ(value.to<DeepDouble>(), (DeepDouble{{{{1, 2}, {3}}, {{}}}, {{{4}}}}));
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Type, [&] { (void)value.to<std::vector<double>>(); }),
               "not convertible to result type");
}

TEST(Values, A20_NestedBraces) {
  const PolymorphicValue value = Values{1, 2.0, Values{true, Values{3}, Values{}}};
  EXPECT_TRUE(value[0].is<int64_t>());
  EXPECT_TRUE(value[1].is<double>());
  EXPECT_TRUE(value[2][0].is<bool>());
  EXPECT_EQ(value[2][1][0].as<int64_t>(), 3);
  EXPECT_TRUE(value[2][2].as<Values>().empty());
}

TEST(Values, A21_NumbersAsSetsOfSets) {
  // von Neumann's numbers: each is the collection of all smaller ones.
  std::vector<PolymorphicValue> numbers = {Values{}};
  for (int n = 1; n <= 10; ++n) {
    Values smaller(numbers.begin(), numbers.end());
    numbers.emplace_back(std::move(smaller));
  }
  for (size_t n = 0; n <= 10; ++n) {
    EXPECT_EQ(numbers[n].as<Values>().size(), n);
    for (size_t m = 0; m <= 10; ++m) {
      EXPECT_EQ(numbers[n] == numbers[m], n == m);
    }
  }
}

TEST(Values, A24_MovesAreNothrowAndLeaveNone) {
  static_assert(sizeof(PolymorphicValue) == 16);
  static_assert(std::is_nothrow_move_constructible_v<PolymorphicValue>);
  static_assert(std::is_nothrow_move_assignable_v<PolymorphicValue>);
  static_assert(std::is_nothrow_swappable_v<PolymorphicValue>);
  static_assert(std::is_nothrow_copy_constructible_v<PolymorphicValue>);
  for (PolymorphicValue value : oneOfEach()) {
    const Kind kind = value.kind();
    PolymorphicValue taken = std::move(value);
    EXPECT_TRUE(value.isNull());  // NOLINT(bugprone-use-after-move): what moving leaves
    EXPECT_EQ(taken.kind(), kind);
    PolymorphicValue assigned = Values{1};
    assigned = std::move(taken);
    EXPECT_TRUE(taken.isNull());  // NOLINT(bugprone-use-after-move): what moving leaves
    EXPECT_EQ(assigned.kind(), kind);
  }
}

TEST(Values, A24_OpaqueHoldsMoveOnlyObjects) {
  const PolymorphicValue value = Opaque::of(std::make_unique<int>(3));
  EXPECT_EQ(*value.as<Opaque>().as<std::unique_ptr<int>>(), 3);
}

TEST(Values, A31_EveryMemberTypeIsVisitedOnce) {
  std::multiset<Kind> seen;
  forEachMemberType([&](auto tag) { seen.insert(KindOf<typename decltype(tag)::type>::value); });
  ASSERT_EQ(seen.size(), static_cast<size_t>(kValueKinds - 1));
  for (int kind = 1; kind < kValueKinds; ++kind) {
    EXPECT_EQ(seen.count(static_cast<Kind>(kind)), 1U);
  }
}

TEST(Values, SelfAssignmentKeepsTheValue) {
  for (PolymorphicValue value : oneOfEach()) {
    const PolymorphicValue before = value;
    const PolymorphicValue& self = value;
    value = self;
    EXPECT_TRUE(isSame(value, before));
    PolymorphicValue& alias = value;
    value = std::move(alias);
    EXPECT_TRUE(isSame(value, before));
  }
}

TEST(Values, ElementOfItselfCanReplaceIt) {
  PolymorphicValue value = Values{Values{1, 2}, 3};
  value = value[0];
  EXPECT_EQ(value, PolymorphicValue(Values{1, 2}));
  PolymorphicValue other = Values{Values{4}, 5};
  other = std::move(other[0]);
  EXPECT_EQ(other, PolymorphicValue(Values{4}));
}

TEST(Values, NothingHeldIsNone) {
  EXPECT_TRUE(PolymorphicValue(at::Tensor()).isNull());
  const at::Tensor undefined;
  EXPECT_TRUE(PolymorphicValue(undefined).isNull());
  EXPECT_TRUE(PolymorphicValue(StructHandle()).isNull());
}

TEST(Values, AddressesDoNotBecomeBools) {
  static_assert(!std::is_constructible_v<PolymorphicValue, const char*>);
  static_assert(!std::is_constructible_v<PolymorphicValue, int*>);
  EXPECT_TRUE(PolymorphicValue(Pointer(static_cast<int*>(nullptr))).is<Pointer>());
}

TEST(Values, ScalarsBecomeValues) {
  EXPECT_TRUE(PolymorphicValue(Scalar(true)).is<bool>());
  EXPECT_EQ(PolymorphicValue(Scalar(3)).as<int64_t>(), 3);
  EXPECT_EQ(PolymorphicValue(Scalar(2.5)).as<double>(), 2.5);
  EXPECT_EQ(PolymorphicValue(Scalar(Complex(1, 2))).as<Complex>(), Complex(1, 2));
}

}  // namespace
}  // namespace meshfuse::testing
