// Compiling in the background: what runs meanwhile, the change to the kernels, programs that go, forks, threads.
#include "meshfuse/runtime/tiered_program.h"

#include <barrier>
#include <latch>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "meshfuse/runtime/background_thread.h"
#include "meshfuse/runtime/kernel_library.h"
#include "runtime/sample_fusions.h"
#include "runtime/scratch_directory.h"

namespace meshfuse::testing {
namespace {

/// Each row by the sum of its squares, which are raised by a number.
Fusion rowsFusion() {
  Fusion fusion;
  const ValId a = addInput(fusion, {-1, -1}, PrimType::Float, true);
  const ValId raised = call(fusion, "add", {call(fusion, "mul", {a, a}), Scalar(1.0)});
  const ValId sums = call(fusion, "sum", {raised, std::vector<int64_t>{1}, Scalar(true), Arg()});
  fusion.addOutput(call(fusion, "div", {a, sums}));
  return fusion;
}

at::Tensor expected(const at::Tensor& a) { return a / (a * a + 1.0).sum(1, true); }

bool isResult(FusionExecutor& executor, const at::Tensor& a) {
  KernelArgumentHolder results = executor.execute(KernelArgumentHolder(a));
  return at::allclose(std::move(results[0]).takeTensor(), expected(a));
}

bool runsKernels(FusionExecutor& executor) {
  return executor.explain().find("launch kernel") != std::string::npos;
}

/// Kernels that were asked for, wherever they came from.
int64_t kernelsAskedFor() {
  const KernelCacheStatistics now = kernelCacheStatistics();
  return now.compiled + now.loadedFromDisk + now.foundInMemory;
}

/// Keeps the background thread from its next jobs.
class BusyThread {
 public:
  BusyThread() {
    runInBackground([go = go_] { go->wait(); });
  }
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;
  ~BusyThread() { release(); }
  void release() {
    if (!isReleased_) {
      isReleased_ = true;
      go_->count_down();
    }
  }

 private:
  std::shared_ptr<std::latch> go_ = std::make_shared<std::latch>(1);
  bool isReleased_ = false;
};

class Tiered : public ::testing::Test {
 protected:
  const ScopedVariable compiles_{"MESHFUSE_COMPILE", "1"};
  const ScopedVariable tiered_{"MESHFUSE_TIERED", "1"};
};

TEST(BackgroundThread, JobsRunOneAfterAnother) {
  std::vector<int> order;
  std::shared_future<void> last;
  for (int i = 0; i < 5; ++i) {
    last = runInBackground([&order, i] { order.push_back(i); });
  }
  last.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(Tiered, TheEvaluatorRunsUntilKernelsAreThere) {
  FusionExecutor executor(rowsFusion());
  const at::Tensor a = at::randn({5, 300});
  {
    const BusyThread busy;
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(isResult(executor, a));
      EXPECT_FALSE(runsKernels(executor));
    }
  }
  executor.compile(KernelArgumentHolder(a));
  EXPECT_TRUE(runsKernels(executor));
  EXPECT_TRUE(isResult(executor, a));
  EXPECT_EQ(executor.boundProgramCount(), 1U);
}

TEST_F(Tiered, ManyFirstCallsCompileOnceAndAreRight) {
  FusionExecutor executor(rowsFusion());
  const at::Tensor a = at::randn({6, 300});
  const int64_t before = kernelsAskedFor();
  std::barrier start(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(isResult(executor, a));
      }
      executor.compile(KernelArgumentHolder(a));
      EXPECT_TRUE(isResult(executor, a));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(runsKernels(executor));
  EXPECT_EQ(kernelsAskedFor(), before + 1);
}

TEST_F(Tiered, AProgramThatIsGoneIsNotCompiled) {
  const int64_t before = kernelsAskedFor();
  {
    BusyThread busy;
    {
      FusionExecutor executor(rowsFusion());
      EXPECT_TRUE(isResult(executor, at::randn({7, 300})));
    }
    busy.release();
    runInBackground([] {}).wait();
  }
  EXPECT_EQ(kernelsAskedFor(), before);
}

TEST_F(Tiered, AnExecutorMayGoWhileItsProgramIsCompiled) {
  for (int64_t columns = 2; columns < 6; ++columns) {
    FusionExecutor executor(rowsFusion());
    EXPECT_TRUE(isResult(executor, at::randn({7, columns})));
  }
  runInBackground([] {}).wait();
}

TEST_F(Tiered, AForkedChildCompilesWhatItsParentHasBegun) {
  FusionExecutor executor(rowsFusion());
  std::vector<at::Tensor> tensors;
  for (int64_t rows = 2; rows < 8; ++rows) {
    tensors.push_back(at::randn({rows, 40}));
    EXPECT_TRUE(isResult(executor, tensors.back()));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    bool isRight = true;
    for (const at::Tensor& a : tensors) {
      executor.compile(KernelArgumentHolder(a));
      isRight = isResult(executor, a) && runsKernels(executor) && isRight;
    }
    ::_exit(isRight ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  executor.compile(KernelArgumentHolder(tensors.front()));
  EXPECT_TRUE(isResult(executor, tensors.front()));
  EXPECT_TRUE(runsKernels(executor));
}

TEST_F(Tiered, NothingIsCompiledWhereCompilationIsOff) {
  const ScopedVariable off("MESHFUSE_COMPILE", "0");
  FusionExecutor executor(rowsFusion());
  const at::Tensor a = at::randn({5, 30});
  executor.compile(KernelArgumentHolder(a));
  EXPECT_TRUE(isResult(executor, a));
  EXPECT_FALSE(runsKernels(executor));
}

TEST_F(Tiered, OtherValuesOfTheVariableAreRefused) {
  const ScopedVariable wrong("MESHFUSE_TIERED", "yes");
  FusionExecutor executor(rowsFusion());
  EXPECT_EQ(
      errorOf(ErrorKind::Value, [&] { executor.execute(KernelArgumentHolder(at::randn({2, 2}))); }),
      "MESHFUSE_TIERED: the variable is 0 or 1: got 'yes'; unset it to compile before the "
      "first call");
}

TEST(CompileAhead, MakesTheProgramAndRunsNothing) {
  const ScopedVariable compiles("MESHFUSE_COMPILE", "1");
  Fusion fusion = rowsFusion();
  fusion.addWrite(fusion.outputs().front(), fusion.inputs().front());
  FusionExecutor executor(std::move(fusion));
  at::Tensor a = at::randn({5, 30});
  const at::Tensor before = a.clone();
  executor.compile(KernelArgumentHolder(a));
  EXPECT_TRUE(at::equal(a, before));
  EXPECT_EQ(executor.boundProgramCount(), 1U);
  EXPECT_TRUE(runsKernels(executor));
  const int64_t kernels = kernelsAskedFor();
  executor.execute(KernelArgumentHolder(a));
  EXPECT_TRUE(at::allclose(a, expected(before)));
  EXPECT_EQ(kernelsAskedFor(), kernels);
  EXPECT_EQ(executor.boundProgramCount(), 1U);
}

TEST(CompileAhead, RefusesWhatACallRefuses) {
  FusionExecutor executor(rowsFusion());
  const at::Tensor a = at::ones({2, 2}, at::kDouble);
  EXPECT_EQ(runtimeErrorOf([&] { executor.compile(KernelArgumentHolder(a)); }),
            runtimeErrorOf([&] { executor.execute(KernelArgumentHolder(a)); }));
}

}  // namespace
}  // namespace meshfuse::testing
