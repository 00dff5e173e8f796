// The cache of bound programs: one build a key, failures, eviction under use.
#include "meshfuse/runtime/program_cache.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "runtime/sample_fusions.h"

namespace meshfuse::testing {
namespace {

class ProgramCacheTest : public ::testing::Test {
 protected:
  std::unique_ptr<BoundProgram> bind(std::span<const ArgView> args) {
    ++builds_;
    return std::make_unique<BoundProgram>(fusion_, args, CallContext{},
                                          Signature(args, CallContext{}, kNoValues_), classes_);
  }
  const BoundProgram& get(ProgramCache& cache, std::span<const ArgView> args) {
    return cache.get(args, {}, kNoValues_, [&] { return bind(args); });
  }

  const std::shared_ptr<ProgramClasses> classes_ = std::make_shared<ProgramClasses>();
  const std::vector<uint8_t> kNoValues_{0};
  const Fusion fusion_ = copyFusion();
  std::atomic<int> builds_ = 0;
};

TEST_F(ProgramCacheTest, BuildsOnceAndRemembersTheLast) {
  ProgramCache cache(8);
  const ProgramCache::Use use(cache);
  const at::Tensor a = at::ones({2, 2});
  const at::Tensor b = at::ones({3, 3});
  const BoundProgram& first = get(cache, std::vector{view(a)});
  EXPECT_EQ(cache.last(), &first);
  const BoundProgram& second = get(cache, std::vector{view(b)});
  EXPECT_EQ(cache.last(), &second);
  EXPECT_EQ(&get(cache, std::vector{view(a)}), &first);
  EXPECT_EQ(cache.last(), &first);
  EXPECT_EQ(builds_, 2);
}

TEST_F(ProgramCacheTest, ManyThreadsBuildOnce) {
  ProgramCache cache(8);
  const at::Tensor a = at::ones({2, 2});
  const std::vector<ArgView> args{view(a)};
  std::barrier start(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      const ProgramCache::Use use(cache);
      get(cache, args);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(builds_, 1);
}

TEST_F(ProgramCacheTest, AFailedBuildLeavesNothingAndTheNextTriesAgain) {
  ProgramCache cache(8);
  const ProgramCache::Use use(cache);
  const at::Tensor a = at::ones({2, 2});
  const std::vector<ArgView> args{view(a)};
  EXPECT_THROW(
      cache.get(args, {}, kNoValues_,
                []() -> std::unique_ptr<BoundProgram> { throw std::runtime_error("refused"); }),
      std::runtime_error);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.last(), nullptr);
  get(cache, args);
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(ProgramCacheTest, TheProgramUnusedForLongestGoes) {
  ProgramCache cache(2);
  const ProgramCache::Use use(cache);
  const at::Tensor a = at::ones({1, 1});
  const at::Tensor b = at::ones({2, 2});
  const at::Tensor c = at::ones({3, 3});
  get(cache, std::vector{view(a)});
  get(cache, std::vector{view(b)});
  get(cache, std::vector{view(a)});
  get(cache, std::vector{view(c)});  // b goes
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(builds_, 3);
  get(cache, std::vector{view(a)});
  EXPECT_EQ(builds_, 3);
  get(cache, std::vector{view(b)});
  EXPECT_EQ(builds_, 4);
}

TEST_F(ProgramCacheTest, AnEvictedProgramLivesAsLongAsItMayBeInUse) {
  ProgramCache cache(1);
  const at::Tensor a = at::ones({1, 1});
  const at::Tensor b = at::ones({2, 2});
  const std::vector<ArgView> args{view(a)};
  const ProgramCache::Use use(cache);
  const BoundProgram& program = get(cache, args);
  {
    const ProgramCache::Use other(cache);
    get(cache, std::vector{view(b)});
  }
  EXPECT_EQ(cache.size(), 1U);
  CallResults results;
  program.run(args, {}, results);
  EXPECT_TRUE(at::equal(results.values[0].asTensor(), a));
}

}  // namespace
}  // namespace meshfuse::testing
