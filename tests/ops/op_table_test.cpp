// The op table is complete, and an incomplete record is named column by column.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {
namespace {

TEST(OpTable, EveryOpHasEveryColumn) {
  ASSERT_GE(allOps().size(), 93U);
  for (const OpInfo* op : allOps()) {
    EXPECT_EQ(missingColumns(*op), std::vector<std::string>{}) << op->name;
  }
}

TEST(OpTable, NamesTheMissingColumnsOfARecord) {
  OpInfo empty;
  EXPECT_EQ(missingColumns(empty),
            (std::vector<std::string>{"name", "params", "overloads", "doc", "normalize", "dtypes",
                                      "dimMap", "algebra", "samples"}));
  OpInfo op = *findOp("sum");
  op.doc = "";
  op.algebra = nullptr;
  op.samples = [](const OpInfo&) { return std::vector<OpSample>{}; };
  EXPECT_EQ(missingColumns(op), (std::vector<std::string>{"doc", "algebra", "samples"}));
}

TEST(OpTable, IsSortedByNameWithoutRepetition) {
  std::set<std::string_view> names;
  for (const OpInfo* op : allOps()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_EQ(findOp(op->name), op);
    EXPECT_EQ(&infoOf(*op), op);
  }
  EXPECT_TRUE(std::ranges::is_sorted(allOps(), {}, &OpInfo::name));
  EXPECT_EQ(findOp("no_such_op"), nullptr);
}

TEST(OpTable, DocsNameTheirReference) {
  for (const OpInfo* op : allOps()) {
    const bool names = op->doc.find("torch.") != std::string_view::npos ||
                       op->doc.find("jax.") != std::string_view::npos;
    EXPECT_TRUE(names) << op->name << ": " << op->doc;
  }
}

TEST(OpTable, SamplesFitTheirSignatures) {
  for (const OpInfo* op : allOps()) {
    if (op->extent != nullptr) {
      continue;  // gives a scalar, has no samples
    }
    for (const OpSample& sample : op->samples(*op)) {
      EXPECT_LE(sample.args.size(), op->params.size()) << op->name;
      EXPECT_EQ(sample.tensors.size(), sample.tensorArgs.size()) << op->name;
      for (size_t position : sample.tensorArgs) {
        ASSERT_LT(position, sample.args.size()) << op->name;
        EXPECT_TRUE(std::holds_alternative<std::monostate>(sample.args[position])) << op->name;
      }
    }
  }
}

}  // namespace
}  // namespace meshfuse
