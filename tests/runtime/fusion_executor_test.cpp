// Whole calls: results against ATen, what runs as a loop and what through the evaluator, threads, eviction.
#include "meshfuse/runtime/fusion_executor.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"
#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

at::Tensor only(KernelArgumentHolder&& results) {
  EXPECT_EQ(results.size(), 1U);
  return std::move(results[0]).takeTensor();
}

/// Runs `fusion` and checks the result against `expected`, and whether it was one copy.
void expectResult(const Fusion& fusion, const KernelArgumentHolder& inputs,
                  const at::Tensor& expected, bool isCopy) {
  FusionExecutor executor(fusion);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const at::Tensor result = only(executor.execute(inputs));
    EXPECT_EQ(result.scalar_type(), expected.scalar_type());
    EXPECT_EQ(result.sizes(), expected.sizes());
    EXPECT_TRUE(at::equal(result.contiguous(), expected.contiguous()));
  }
  EXPECT_EQ(executor.lastWasCopy(), isCopy);
  EXPECT_EQ(executor.boundProgramCount(), 1U);
}

at::Tensor sampleTensor(const OpSample::Tensor& tensor) {
  if (!tensor.values.empty()) {
    return at::tensor(tensor.values).view(tensor.sizes).to(torchDtype(tensor.dtype));
  }
  const at::Tensor values =
      at::rand(tensor.sizes, at::kDouble) * (tensor.high - tensor.low) + tensor.low;
  const bool isWhole = categoryOf(tensor.dtype) == TypeCategory::Integral;
  if (tensor.dtype == PrimType::Float4_e2m1fn) {
    return packFloat4(roundToFloat4(values), values.dim() - 1);
  }
  return tensor.dtype == PrimType::Bool
             ? at::gt(values, 0)
             : (isWhole ? at::floor(values) : values).to(torchDtype(tensor.dtype));
}

/// NaN is NaN.
bool isSameTensor(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType wide = a.is_complex() ? at::kComplexDouble : at::kDouble;
  if (a.scalar_type() == at::ScalarType::Float4_e2m1fn_x2) {
    return b.scalar_type() == a.scalar_type() && at::equal(a.view(at::kByte), b.view(at::kByte));
  }
  return a.scalar_type() == b.scalar_type() &&
         at::allclose(a.to(wide), b.to(wide), 0.0, 0.0, /*equal_nan=*/true);
}

std::vector<at::Tensor> tensorsOf(KernelArgumentHolder&& results) {
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    tensors.push_back(std::move(results[i]).takeTensor());
  }
  return tensors;
}

/// Contiguous tensors, each as it is, copied, and added to itself, go into every operation: what comes first decides nothing of
/// what comes next.
TEST(FusionExecutor, EveryOperationAfterACopyAndASum) {
  int64_t ran = 0;
  for (const OpInfo* op : allOps()) {
    if (op->samples == nullptr || op->drawsNumbers != nullptr) {
      continue;
    }
    for (const OpSample& sample : op->samples(*op)) {
      for (const std::string_view before : {"set", "add"}) {
        Fusion fusion;
        std::vector<ValId> operands;
        KernelArgumentHolder inputs;
        for (const OpSample::Tensor& tensor : sample.tensors) {
          const ValId input = addInput(fusion, tensor.sizes, tensor.dtype, true);
          std::vector<Arg> args{input};
          // Sums of bools and of narrow floats are of another type.
          const bool isAdded =
              before == "add" && tensor.dtype != PrimType::Bool && !isReducedFloat(tensor.dtype);
          if (isAdded) {
            args.emplace_back(Scalar(0));
          }
          operands.push_back(call(fusion, isAdded ? "add" : "set", std::move(args)));
          inputs.push(sampleTensor(tensor));
        }
        for (const ValId output : addCall(fusion, *op, sampleArgs(*op, sample, operands))) {
          if (fusion.val(output).isTensor()) {
            fusion.addOutput(output);
          }
        }
        if (operands.empty() || fusion.outputs().empty()) {
          continue;
        }
        FusionExecutor executor(fusion);
        CallContext byOperation;
        byOperation.dispatchAll = true;
        const std::vector<at::Tensor> expected = tensorsOf(executor.execute(inputs, byOperation));
        const std::vector<at::Tensor> got = tensorsOf(executor.execute(inputs));
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_EQ(got[i].sizes(), expected[i].sizes()) << op->name << " after " << before;
          EXPECT_TRUE(isSameTensor(got[i], expected[i])) << op->name << " after " << before;
        }
        ++ran;
      }
    }
  }
  EXPECT_GT(ran, 500);
}

TEST(FusionExecutor, CopiesAnyDtype) {
  for (const auto& [prim, type] : std::vector<std::pair<PrimType, at::ScalarType>>{
           {PrimType::Float, at::kFloat},
           {PrimType::Double, at::kDouble},
           {PrimType::Half, at::kHalf},
           {PrimType::BFloat16, at::kBFloat16},
           {PrimType::Int, at::kLong},
           {PrimType::Int32, at::kInt},
           {PrimType::Bool, at::kBool},
           {PrimType::ComplexFloat, at::kComplexFloat},
           {PrimType::ComplexDouble, at::kComplexDouble}}) {
    const at::Tensor a = at::arange(0, 15).view({3, 5}).to(type);
    expectResult(copyFusion(prim), KernelArgumentHolder(a), a, true);
  }
}

TEST(FusionExecutor, CopyIsFreshMemory) {
  FusionExecutor executor(copyFusion());
  const at::Tensor a = at::ones({4, 4});
  const at::Tensor b = only(executor.execute(KernelArgumentHolder(a)));
  EXPECT_NE(a.data_ptr(), b.data_ptr());
  a.zero_();
  EXPECT_TRUE(at::equal(b, at::ones({4, 4})));
  EXPECT_EQ(b.use_count(), 1U);
}

TEST(FusionExecutor, CopiesEmptyAndScalarAndLargeTensors) {
  expectResult(copyFusion(), KernelArgumentHolder(at::ones({0, 7})), at::ones({0, 7}), true);
  expectResult(copyFusion(PrimType::Float, 0), KernelArgumentHolder(at::full({}, 3.0)),
               at::full({}, 3.0), true);
  expectResult(copyFusion(PrimType::Float, 1), KernelArgumentHolder(at::ones({0})), at::ones({0}),
               true);
  const at::Tensor large = at::rand({1031, 1033});
  expectResult(copyFusion(), KernelArgumentHolder(large), large, true);
}

TEST(FusionExecutor, StridedTensorsGoThroughTheEvaluator) {
  const at::Tensor a = at::rand({6, 5}).t();
  expectResult(copyFusion(), KernelArgumentHolder(a), a, false);
  const at::Tensor expanded = at::rand({1, 5}).expand({6, 5});
  expectResult(copyFusion(), KernelArgumentHolder(expanded), expanded, false);
}

TEST(FusionExecutor, AddsTensorsOfEqualDtype) {
  for (const auto& [prim, type] :
       std::vector<std::pair<PrimType, at::ScalarType>>{{PrimType::Float, at::kFloat},
                                                        {PrimType::Double, at::kDouble},
                                                        {PrimType::Int, at::kLong},
                                                        {PrimType::Int32, at::kInt}}) {
    for (int64_t columns : {1, 7, 16, 1000, 70000}) {
      const at::Tensor a = at::randint(-50, 50, {3, columns}).to(type);
      const at::Tensor b = at::randint(-50, 50, {3, columns}).to(type);
      expectResult(sumFusion(prim, prim), KernelArgumentHolder(a, b), a + b, false);
    }
  }
}

TEST(FusionExecutor, AddsTensorsOfOtherDtypes) {
  const at::Tensor half = at::rand({4, 4}).to(at::kHalf);
  expectResult(sumFusion(PrimType::Half, PrimType::Half), KernelArgumentHolder(half, half),
               half.to(at::kFloat) + half.to(at::kFloat), false);
  const at::Tensor wide = at::rand({4, 4}, at::kDouble);
  expectResult(sumFusion(PrimType::Float, PrimType::Double),
               KernelArgumentHolder(wide.to(at::kFloat), wide),
               wide.to(at::kFloat).to(at::kDouble) + wide, false);
}

TEST(FusionExecutor, AddsNumbers) {
  const at::Tensor a = at::rand({5, 9});
  expectResult(shiftFusion(), KernelArgumentHolder(a, 0.1), a + 0.1, false);
  const at::Tensor n = at::randint(-9, 9, {5, 9});
  expectResult(shiftFusion(PrimType::Int, PrimType::Int), KernelArgumentHolder(n, 7), n + 7, false);
  expectResult(shiftFusion(PrimType::Int, PrimType::Double), KernelArgumentHolder(n, 0.5),
               n.to(at::kDouble) + 0.5, false);
}

TEST(FusionExecutor, NumbersAreBoundAtEachCall) {
  FusionExecutor executor(shiftFusion());
  const at::Tensor a = at::rand({5, 9});
  for (double number : {0.0, -1.5, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(at::equal(only(executor.execute(KernelArgumentHolder(a, number))), a + number));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(only(executor.execute(KernelArgumentHolder(a, nan))).isnan().all().item<bool>());
  EXPECT_EQ(executor.boundProgramCount(), 1U);
}

TEST(FusionExecutor, ChainsOfSumsHaveTwoResults) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  const ValId b = addInput(fusion, {-1, -1});
  const ValId c = addInput(fusion, {-1, -1});
  const ValId ab = call(fusion, "add", {a, b});
  const ValId abc = call(fusion, "add", {ab, c});
  const ValId shifted = call(fusion, "add", {abc, Scalar(2.0)});
  fusion.addOutput(abc);
  fusion.addOutput(call(fusion, "add", {shifted, a}));
  FusionExecutor executor(fusion);
  for (int64_t rows : {1, 33, 3000}) {
    const at::Tensor x = at::rand({rows, 77});
    const at::Tensor y = at::rand({rows, 77});
    const at::Tensor z = at::rand({rows, 77});
    const KernelArgumentHolder results = executor.execute(KernelArgumentHolder(x, y, z));
    ASSERT_EQ(results.size(), 2U);
    EXPECT_TRUE(at::equal(results[0].asTensor(), (x + y) + z));
    EXPECT_TRUE(at::equal(results[1].asTensor(), (((x + y) + z) + 2.0) + x));
    EXPECT_FALSE(executor.lastWasCopy());
  }
}

TEST(FusionExecutor, ACopyOfACopyIsNoCopyOfAnInput) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1}, PrimType::ComplexDouble);
  fusion.addOutput(call(fusion, "set", {call(fusion, "set", {a})}));
  const at::Tensor x = at::rand({100, 100}, at::kComplexDouble);
  expectResult(fusion, KernelArgumentHolder(x), x, false);
}

TEST(FusionExecutor, OtherCallsGoThroughTheEvaluator) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  fusion.addOutput(call(fusion, "neg", {a}));
  const at::Tensor x = at::rand({3, 4});
  expectResult(fusion, KernelArgumentHolder(x), -x, false);
}

TEST(FusionExecutor, AnInputThatIsAnOutputIsReturnedItself) {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1});
  fusion.addOutput(a);
  FusionExecutor executor(fusion);
  const at::Tensor x = at::rand({3, 4});
  EXPECT_TRUE(only(executor.execute(KernelArgumentHolder(x))).is_same(x));
}

TEST(FusionExecutor, ResultsCarryNoAutogradGraph) {
  const at::Tensor a = at::rand({3, 4}).requires_grad_();
  for (const char* op : {"set", "neg"}) {
    Fusion fusion;
    const ValId in = addInput(fusion, {-1, -1});
    fusion.addOutput(call(fusion, op, {in}));
    FusionExecutor executor(fusion);
    EXPECT_FALSE(only(executor.execute(KernelArgumentHolder(a))).requires_grad());
  }
}

TEST(FusionExecutor, VectorsCountAsTheirElements) {
  FusionExecutor executor(sumFusion());
  const at::Tensor a = at::rand({2, 2});
  KernelArgumentHolder inputs;
  inputs.push(PolymorphicValue(std::vector<PolymorphicValue>{a, a}));
  EXPECT_TRUE(at::equal(only(executor.execute(inputs)), a + a));
}

TEST(FusionExecutor, OtherKindsOfValuesAreRefused) {
  FusionExecutor executor(copyFusion());
  EXPECT_EQ(
      errorOf(ErrorKind::Type, [&] { executor.execute(KernelArgumentHolder(PolymorphicValue())); }),
      "execute: arguments must be tensors or numbers: argument 0 is None; pass a tensor, a "
      "distributed tensor, a "
      "bool, an int, a float or a complex number");
}

TEST(FusionExecutor, ResultsNameTheirProgram) {
  FusionExecutor executor(copyFusion());
  const auto idFor = [&](const std::vector<int64_t>& sizes) {
    return executor.execute(KernelArgumentHolder(at::ones(sizes))).cacheId();
  };
  const auto small = idFor({2, 2});
  EXPECT_TRUE(small.has_value());
  EXPECT_EQ(idFor({2, 2}), small);
  EXPECT_NE(idFor({3, 2}), small);
  EXPECT_EQ(idFor({2, 2}), small);
}

TEST(FusionExecutor, CacheIsBoundedAndStillRight) {
  FusionExecutor executor(copyFusion(), 4);
  for (int round = 0; round < 3; ++round) {
    for (int64_t rows = 1; rows < 12; ++rows) {
      const at::Tensor a = at::rand({rows, 3});
      EXPECT_TRUE(at::equal(only(executor.execute(KernelArgumentHolder(a))), a));
      EXPECT_LE(executor.boundProgramCount(), 4U);
    }
  }
}

TEST(FusionExecutor, EightThreadsShareOneExecutor) {
  FusionExecutor executor(sumFusion(), 3);
  std::barrier start(8);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < 300; ++i) {
        // Five shapes in a cache of three: hits, misses and evictions on all threads.
        const at::Tensor a = at::full({1 + (i + t) % 5, 4}, t + 1.0F);
        const at::Tensor b = at::full({1 + (i + t) % 5, 4}, i + 0.5F);
        wrong += at::equal(only(executor.execute(KernelArgumentHolder(a, b))), a + b) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(executor.boundProgramCount(), 3U);
}

TEST(FusionExecutor, BlockingHooksGoAroundWorkThatTakesLongAndNoOther) {
  static std::atomic<int> open;
  static std::atomic<int> scopes;
  open = 0;
  scopes = 0;
  CallContext context;
  context.blocking.enter = [] {
    ++open;
    ++scopes;
    return static_cast<void*>(nullptr);
  };
  context.blocking.leave = [](void*) { --open; };
  FusionExecutor executor(copyFusion());
  executor.execute(KernelArgumentHolder(at::ones({16, 16})), context);
  EXPECT_EQ(scopes, 0);
  executor.execute(KernelArgumentHolder(at::ones({512, 512})), context);
  EXPECT_EQ(scopes, 1);
  executor.execute(KernelArgumentHolder(at::ones({16, 16}).t()), context);
  EXPECT_EQ(scopes, 2);
  EXPECT_EQ(open, 0);
}

TEST(FusionExecutor, DispatchAllUsesAten) {
  FusionExecutor executor(copyFusion());
  CallContext context;
  context.dispatchAll = true;
  const at::Tensor a = at::rand({4, 4});
  EXPECT_TRUE(at::equal(only(executor.execute(KernelArgumentHolder(a), context)), a));
  EXPECT_FALSE(executor.lastWasCopy());
  executor.execute(KernelArgumentHolder(a));
  EXPECT_TRUE(executor.lastWasCopy());
}

TEST(FusionExecutor, MetaTensorsGiveMetaTensors) {
  FusionExecutor executor(sumFusion());
  const at::Tensor a = at::empty({4, 4}, at::kMeta);
  const at::Tensor result = only(executor.execute(KernelArgumentHolder(a, a)));
  EXPECT_TRUE(result.is_meta());
  EXPECT_EQ(result.sizes(), a.sizes());
}

}  // namespace
}  // namespace meshfuse::testing
