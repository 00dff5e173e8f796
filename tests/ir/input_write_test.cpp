// Values that are written into inputs: what may be, their place in the text, equality, what verification says.
#include "meshfuse/ir/input_write.h"

#include <gtest/gtest.h>

#include "ir/sample_ops.h"
#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/verify.h"

namespace meshfuse {
namespace {

using testing::findSampleOp;
using testing::kNegate;
using Texts = std::vector<std::string>;

const std::vector<int64_t> kShape{-1, 4};

/// tv0 and tv1 are inputs, tv2 = negate(tv0), tv3 = negate(tv2).
struct Sample {
  Fusion fusion;
  ValId a, b, first, second;

  Sample() {
    a = fusion.addInputTensor(PrimType::Float, kShape, {true, true});
    b = fusion.addInputTensor(PrimType::Float, kShape, {true, true});
    first = negate(a);
    second = negate(first);
  }

  ValId negate(ValId id) {
    const TensorType type{.domain = fusion.val(id).tensor().domain};
    return fusion.expr(fusion.addExpr(kNegate, {id}, {type})).outputs[0];
  }
};

std::string errorOf(const Fusion& fusion, ValId value, ValId input, ErrorKind kind) {
  try {
    checkInputWrite(fusion, value, input);
  } catch (const UserError& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind));
    return error.what();
  }
  return "no error";
}

TEST(InputWrite, TheTextHasOutputsAndWritesInTheirOrderAndReadsBack) {
  Sample sample;
  sample.fusion.addWrite(sample.first, sample.b);
  sample.fusion.addOutput(sample.second);
  sample.fusion.addWrite(sample.second, sample.a);
  sample.fusion.addOutput(sample.b);
  const std::string text = print(sample.fusion);
  EXPECT_NE(text.find("output tv2 into tv1\noutput tv3\noutput tv3 into tv0\noutput tv1\n"),
            std::string::npos)
      << text;
  const Fusion read = parse(text, findSampleOp);
  EXPECT_EQ(print(read), text);
  EXPECT_TRUE(sameDefinition(read, sample.fusion));
  EXPECT_EQ(structuralHash(read), structuralHash(sample.fusion));
  EXPECT_EQ(violations(read), Texts{});
}

TEST(InputWrite, TheLastValueForAnInputWins) {
  Sample sample;
  sample.fusion.addWrite(sample.first, sample.a);
  sample.fusion.addOutput(sample.first);
  sample.fusion.addWrite(sample.second, sample.a);
  ASSERT_EQ(sample.fusion.writes().size(), 1U);
  EXPECT_EQ(sample.fusion.writes()[0], (InputWrite{sample.second, sample.a, 1}));
  EXPECT_EQ(sample.fusion.inputBehind(sample.first), std::nullopt);
}

TEST(InputWrite, AnOutputIsGivenBackAsTheInputItIsOrIsWrittenIntoLast) {
  Sample sample;
  sample.fusion.addWrite(sample.first, sample.a);
  EXPECT_EQ(sample.fusion.inputBehind(sample.first), sample.a);
  sample.fusion.addWrite(sample.first, sample.b);
  EXPECT_EQ(sample.fusion.inputBehind(sample.first), sample.b);
  EXPECT_EQ(sample.fusion.inputBehind(sample.a), sample.a);
  EXPECT_EQ(sample.fusion.inputBehind(sample.second), std::nullopt);
}

TEST(InputWrite, DefinitionsThatDifferInWritesAloneDiffer) {
  const auto hashOf = [](const auto& change) {
    Sample sample;
    change(sample);
    return std::pair(structuralHash(sample.fusion), sample.fusion);
  };
  const auto none = hashOf([](Sample&) {});
  const auto one = hashOf([](Sample& s) { s.fusion.addWrite(s.first, s.a); });
  const auto other = hashOf([](Sample& s) { s.fusion.addWrite(s.first, s.b); });
  const auto value = hashOf([](Sample& s) { s.fusion.addWrite(s.second, s.a); });
  const auto again = hashOf([](Sample& s) { s.fusion.addWrite(s.first, s.a); });
  EXPECT_TRUE(sameDefinition(one.second, again.second));
  EXPECT_EQ(one.first, again.first);
  for (const auto& different : {none, other, value}) {
    EXPECT_FALSE(sameDefinition(one.second, different.second));
    EXPECT_NE(one.first, different.first);
  }
}

TEST(InputWrite, IsRefusedWithTheRuleAndBothTypes) {
  Sample sample;
  Fusion& fusion = sample.fusion;
  const ValId number = fusion.addInputScalar(PrimType::Double);
  const ValId half = fusion.addInputTensor(PrimType::Half, kShape, {true, true});
  const std::vector<int64_t> row{1, 4};
  const ValId narrow = fusion.addInputTensor(PrimType::Float, row, {std::nullopt, true});
  const std::vector<int64_t> five{-1, 5};
  const ValId wide = fusion.addInputTensor(PrimType::Float, five, {true, true});
  const std::vector<int64_t> flat{-1};
  const ValId vector = fusion.addInputTensor(PrimType::Float, flat, {true});
  EXPECT_EQ(errorOf(fusion, sample.first, sample.b, ErrorKind::Runtime), "no error");
  // A symbolic size may fit; the call shows.
  EXPECT_EQ(errorOf(fusion, sample.first, narrow, ErrorKind::Runtime), "no error");
  EXPECT_EQ(
      errorOf(fusion, sample.first, number, ErrorKind::Type),
      "add_output: a tensor is written into a tensor input: 'c0' is a scalar; pass tensors; a "
      "number becomes one with fd.ops.full");
  EXPECT_EQ(
      errorOf(fusion, sample.second, sample.first, ErrorKind::Runtime),
      "add_output: alias_input is an input of the definition: got 'tv2' of type Float[i0, 4], "
      "which is computed; pass what define_tensor gave, or leave alias_input out and use the "
      "returned tensor");
  EXPECT_EQ(
      errorOf(fusion, sample.first, half, ErrorKind::Runtime),
      "add_output: a value has the element type of the input it is written into: got 'tv2' of "
      "type Float[i0, 4] for the input 'tv4' of type Half[i2, 4]; convert it with fd.ops.cast");
  const std::string sizes =
      "add_output: a value has the sizes of the input it is written into: got 'tv2' of type "
      "Float[i0, 4] for the input ";
  const std::string way =
      "; bring it to these sizes first, with broadcast_in_dim, expand or reshape";
  EXPECT_EQ(errorOf(fusion, sample.first, wide, ErrorKind::Runtime),
            sizes + "'tv6' of type Float[i3, 5]" + way);
  EXPECT_EQ(errorOf(fusion, sample.first, vector, ErrorKind::Runtime),
            sizes + "'tv7' of type Float[i4]" + way);
  EXPECT_THROW(fusion.addWrite(sample.first, wide), UserError);
  EXPECT_TRUE(fusion.writes().empty());
}

TEST(InputWrite, VerificationNamesAWriteThatNoLongerFits) {
  Sample sample;
  sample.fusion.addWrite(sample.first, sample.b);
  EXPECT_EQ(violations(sample.fusion), Texts{});
  sample.fusion.val(sample.first).tensor().dtype = PrimType::Half;
  EXPECT_EQ(violations(sample.fusion),
            Texts{"the write of 'tv2' into 'tv1' is refused: add_output: a value has the element "
                  "type of the input it is written into: got 'tv2' of type Half[i0, 4] for the "
                  "input 'tv1' of type Float[i1, 4]; convert it with fd.ops.cast"});
}

TEST(InputWrite, TheParserRefusesWhatCannotBeWritten) {
  const std::string start =
      "input tv0: Float[4] contiguity(t)\ninput tv1: Float[4] contiguity(t)\n"
      "tv2: Float[4] = negate(tv0)\n";
  const auto errorIn = [&](const std::string& line) -> std::string {
    try {
      parse(start + line, findSampleOp);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(errorIn("output tv2 into tv1\n"), "no error");
  EXPECT_NE(errorIn("output tv0 into tv1\n")
                .find("a value that a call gives before this; 'tv0' is "
                      "none"),
            std::string::npos);
  EXPECT_NE(errorIn("output tv2 into tv9\n").find("the name of a value defined above"),
            std::string::npos);
  EXPECT_NE(errorIn("output tv2 into tv2\n").find("alias_input is an input of the definition"),
            std::string::npos);
}

}  // namespace
}  // namespace meshfuse
