// Calls with distributed tensors on one rank of a mesh whose other ranks are played by the test.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "meshfuse/base/error.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

ShardingId rowsOverTwo() {
  return intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {Placement::shard(0)}));
}

/// Collectives that only count how often ranks agree.
struct Counted {
  std::atomic<int> agreements = 0;
  uint64_t fingerprint = 0;
  bool refuse = false;
  Collectives collectives;

  Counted() {
    collectives.agree = [this](const DeviceMesh& mesh, uint64_t print,
                               const std::function<std::string()>& what) {
      EXPECT_EQ(mesh, DeviceMesh::fromCount(2));
      EXPECT_FALSE(what().empty());
      ++agreements;
      fingerprint = print;
      if (refuse) {
        throw UserError(ErrorKind::Runtime, "ranks 0 and 1 run different programs");
      }
    };
  }
  CallContext context() const {
    CallContext context;
    context.binding = 1;
    context.collectives = &collectives;
    return context;
  }
};

TEST(DistributedCall, EvenTensorsStayInline) {
  FusionExecutor executor(copyFusion());
  const at::Tensor local = at::rand({3, 2});
  KernelArgumentHolder results =
      executor.execute(KernelArgumentHolder(DistributedTensor(local, rowsOverTwo())));
  const DistributedTensor& result = results[0].as<DistributedTensor>();
  EXPECT_TRUE(at::equal(result.local(), local));
  EXPECT_EQ(result.sharding(), rowsOverTwo());
  EXPECT_EQ(result.sizes(), (c10::DimVector{6, 2}));
  EXPECT_FALSE(result.isBoxed());
  EXPECT_TRUE(executor.lastWasCopy());
}

TEST(DistributedCall, UnevenTensorsKeepTheirGlobalSizes) {
  FusionExecutor executor(copyFusion());
  for (const auto& [rank, rows] : std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {1, 2}}) {
    CallContext context;
    context.rank = rank;
    const at::Tensor local = at::rand({rows, 2});
    const DistributedTensor input(local, rowsOverTwo(), std::vector<int64_t>{5, 2},
                                  std::vector<int64_t>{2, 1});
    FusionExecutor ranksExecutor(copyFusion());
    KernelArgumentHolder results = ranksExecutor.execute(KernelArgumentHolder(input), context);
    const DistributedTensor& result = results[0].as<DistributedTensor>();
    EXPECT_TRUE(at::equal(result.local(), local));
    EXPECT_EQ(result.sizes(), (c10::DimVector{5, 2}));
    EXPECT_EQ(result.strides(), (c10::DimVector{2, 1}));
  }
}

TEST(DistributedCall, SameLocalSizesOfOtherGlobalSizesAreOtherPrograms) {
  FusionExecutor executor(copyFusion());
  const at::Tensor local = at::rand({3, 2});
  for (int64_t rows : {5, 6, 5}) {
    const DistributedTensor input(local, rowsOverTwo(), std::vector<int64_t>{rows, 2},
                                  std::vector<int64_t>{2, 1});
    KernelArgumentHolder results = executor.execute(KernelArgumentHolder(input));
    EXPECT_EQ(results[0].as<DistributedTensor>().sizes(), (c10::DimVector{rows, 2}));
  }
  EXPECT_EQ(executor.boundProgramCount(), 2U);
}

TEST(DistributedCall, RanksAgreeOnceBeforeTheFirstRun) {
  Counted ranks;
  FusionExecutor executor(copyFusion());
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  for (int i = 0; i < 3; ++i) {
    executor.execute(inputs, ranks.context());
  }
  EXPECT_EQ(ranks.agreements, 1);
  executor.execute(KernelArgumentHolder(DistributedTensor(at::rand({4, 2}), rowsOverTwo())),
                   ranks.context());
  EXPECT_EQ(ranks.agreements, 2);
}

TEST(DistributedCall, RanksAgreeOnEveryCallWhenAsked) {
  Counted ranks;
  CallContext context = ranks.context();
  context.rankCheck = RankCheck::Always;
  FusionExecutor executor(copyFusion());
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  for (int i = 0; i < 3; ++i) {
    executor.execute(inputs, context);
  }
  EXPECT_EQ(ranks.agreements, 3);
}

TEST(DistributedCall, RanksAgreeOnEveryCallThatCommunicates) {
  Counted ranks;
  ranks.collectives.allReduce = [](const CollectiveSpec&, const LocalTensors& locals) {
    return locals;
  };
  Fusion fusion;
  const ValId total = call(fusion, "sum", {addInput(fusion, {-1, -1}), std::vector<int64_t>{0}});
  fusion.addOutput(call(fusion, "relu", {total}));
  FusionExecutor executor(fusion);
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  CallContext context = ranks.context();
  for (int i = 0; i < 3; ++i) {
    executor.execute(inputs, context);
  }
  EXPECT_EQ(ranks.agreements, 3);
  context.rankCheck = RankCheck::First;
  executor.execute(inputs, context);
  EXPECT_EQ(ranks.agreements, 4);
  executor.execute(inputs, context);
  EXPECT_EQ(ranks.agreements, 4);
}

TEST(DistributedCall, TheEnvironmentSaysWhenRanksAgree) {
  const auto inEnvironment = [](const char* value) {
    ::setenv("MESHFUSE_CHECK_RANKS", value, 1);
    return rankCheckFromEnvironment();
  };
  EXPECT_EQ(inEnvironment(""), RankCheck::Communicating);
  EXPECT_EQ(inEnvironment("first"), RankCheck::First);
  EXPECT_EQ(inEnvironment("always"), RankCheck::Always);
  EXPECT_EQ(errorOf(ErrorKind::Value, [&] { inEnvironment("never"); }),
            "MESHFUSE_CHECK_RANKS: ranks compare programs at the first run, or on every call: got "
            "'never'; set it to 'first' or 'always', or unset it to compare on calls that "
            "communicate on the CPU");
  ::unsetenv("MESHFUSE_CHECK_RANKS");
  EXPECT_EQ(rankCheckFromEnvironment(), RankCheck::Communicating);
}

TEST(DistributedCall, DisagreementIsRaisedEachTimeUntilTheRanksAgree) {
  Counted ranks;
  ranks.refuse = true;
  FusionExecutor executor(copyFusion());
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(runtimeErrorOf([&] { executor.execute(inputs, ranks.context()); }),
              "ranks 0 and 1 run different programs");
  }
  ranks.refuse = false;
  EXPECT_EQ(executor.execute(inputs, ranks.context()).size(), 1U);
  EXPECT_EQ(ranks.agreements, 3);
}

TEST(DistributedCall, FingerprintDependsOnSizesAndDefinitionButNotOnTheRank) {
  const auto fingerprintOf = [](const Fusion& fusion, int64_t globalRows, int64_t rank) {
    Counted ranks;
    CallContext context = ranks.context();
    context.rank = rank;
    FusionExecutor executor(fusion);
    const IndexRange rows = chunkRange(globalRows, 2, rank);
    executor.execute(KernelArgumentHolder(DistributedTensor(
                         at::rand({rows.size(), 2}), rowsOverTwo(),
                         std::vector<int64_t>{globalRows, 2}, std::vector<int64_t>{2, 1})),
                     context);
    return ranks.fingerprint;
  };
  Fusion negation;
  negation.addOutput(call(negation, "neg", {addInput(negation, {-1, -1})}));
  EXPECT_EQ(fingerprintOf(copyFusion(), 5, 0), fingerprintOf(copyFusion(), 5, 1));
  EXPECT_NE(fingerprintOf(copyFusion(), 5, 0), fingerprintOf(copyFusion(), 6, 0));
  EXPECT_NE(fingerprintOf(copyFusion(), 5, 0), fingerprintOf(negation, 5, 0));
}

TEST(DistributedCall, ManyThreadsAgreeOnce) {
  Counted ranks;
  FusionExecutor executor(copyFusion());
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { executor.execute(inputs, ranks.context()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ranks.agreements, 1);
}

TEST(DistributedCall, OtherBindingsAreOtherPrograms) {
  Counted ranks;
  FusionExecutor executor(copyFusion());
  const KernelArgumentHolder inputs(DistributedTensor(at::rand({3, 2}), rowsOverTwo()));
  CallContext other = ranks.context();
  other.binding = 2;
  executor.execute(inputs, ranks.context());
  executor.execute(inputs, other);
  EXPECT_EQ(executor.boundProgramCount(), 2U);
  EXPECT_EQ(ranks.agreements, 2);
}

TEST(DistributedCall, RanksMeetOnceMoreBeforeTheyWrite) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = call(fusion, "neg", {a});
  fusion.addWrite(b, a);
  fusion.addOutput(b);
  FusionExecutor executor(std::move(fusion));
  Counted counted;
  const at::Tensor local = at::rand({3, 2});
  const at::Tensor before = local.clone();
  const int64_t version = local._version();
  const KernelArgumentHolder inputs(DistributedTensor(local, rowsOverTwo()));
  KernelArgumentHolder results = executor.execute(inputs, counted.context());
  EXPECT_EQ(counted.agreements, 2);
  EXPECT_TRUE(results[0].as<DistributedTensor>().local().is_same(local));
  EXPECT_TRUE(at::equal(local, -before));
  executor.execute(inputs, counted.context());
  EXPECT_EQ(counted.agreements, 3);
  EXPECT_TRUE(at::equal(local, before));
  counted.refuse = true;
  EXPECT_EQ(
      runtimeErrorOf([&] { executor.execute(inputs, counted.context()); }),
      "execute: no input was written, as not every rank has computed what it is to write: ranks "
      "0 and 1 run different programs");
  EXPECT_TRUE(at::equal(local, before));
  EXPECT_EQ(local._version(), version + 2);
}

/// Bytes hold two elements: ranks have whole bytes, and as many elements as their share of the global ones.
TEST(DistributedCall, PackedElementsAreShardedInWholeBytes) {
  FusionExecutor executor(copyFusion(PrimType::Float4_e2m1fn));
  const auto sharded = [](int64_t rows, int64_t columns, int64_t dim, std::vector<int64_t> global) {
    const ShardingId sharding = intern(makeSharding(DeviceMesh::fromShape(std::vector<int64_t>{2}),
                                                    MeshDevice::Cpu, {Placement::shard(dim)}));
    const at::Tensor bytes = at::arange(rows * columns).to(at::kByte).view({rows, columns});
    const std::vector<int64_t> strides{global[1], 1};
    return KernelArgumentHolder(
        DistributedTensor(bytes.view(at::ScalarType::Float4_e2m1fn_x2), sharding, global, strides));
  };
  for (const auto& [dim, global] : std::vector<std::pair<int64_t, std::vector<int64_t>>>{
           {0, {8, 3}}, {0, {7, 3}}, {1, {4, 6}}}) {
    const KernelArgumentHolder inputs = sharded(4, 3, dim, global);
    const KernelArgumentHolder results = executor.execute(inputs);
    const auto& result = results[0].as<DistributedTensor>();
    EXPECT_TRUE(std::ranges::equal(result.sizes(), global));
    EXPECT_TRUE(at::equal(result.local().view(at::kByte),
                          inputs[0].as<DistributedTensor>().local().view(at::kByte)));
  }
  EXPECT_EQ(runtimeErrorOf([&] { executor.execute(sharded(4, 3, 1, {4, 5})); }),
            "execute: packed 4-bit floats are sharded in whole bytes, as many on each rank: input "
            "0, tv0, has 5 bytes in dimension 1 on DeviceMesh{0 1} cpu (S(1)); shard another "
            "dimension, or pad this one");
}

}  // namespace
}  // namespace meshfuse::testing
