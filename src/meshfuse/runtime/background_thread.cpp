#include "meshfuse/runtime/background_thread.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>

#include "meshfuse/runtime/kernel_library.h"

namespace meshfuse {

namespace {

using Job = std::packaged_task<void()>;

constexpr int kNiceness = 10;

/// The thread starts with the first job.
struct Worker {
  std::mutex
      running;  // held by the thread while it takes and runs a job; before `mutex` where both are held
  std::mutex mutex;
  std::condition_variable hasWork;
  std::deque<Job> jobs;
  std::thread thread;
  bool isEnding = false;
};

Worker*& worker();

void endAtExit() { endBackgroundThread(); }

void work(Worker& own) {
  // On Linux a priority is that of a thread, and of the compilers that it starts: calls that run meanwhile go first.
  ::setpriority(PRIO_PROCESS, 0, kNiceness);
  bool isFirst = true;
  for (;;) {
    {
      std::unique_lock lock(own.mutex);
      own.hasWork.wait(lock, [&] { return own.isEnding || !own.jobs.empty(); });
    }
    const std::scoped_lock running(own.running);
    Job job;
    {
      const std::scoped_lock lock(own.mutex);
      if (own.isEnding) {
        return;
      }
      job = std::move(own.jobs.front());
      own.jobs.pop_front();
    }
    job();
    if (std::exchange(isFirst, false)) {
      // What the first job has made for the process, the table of operations say, goes after the thread has ended.
      std::atexit(endAtExit);
    }
  }
}

/// False where the system has no thread to give.
bool start(Worker& own) {
  if (own.thread.joinable()) {
    return true;
  }
  try {
    own.thread = std::thread([&own] { work(own); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void lockBoth() {
  worker()->running.lock();
  worker()->mutex.lock();
}

void unlockBoth() {
  worker()->mutex.unlock();
  worker()->running.unlock();
}

/// The child has the jobs and no thread; nothing that the thread may have waited for is used again.
void beginAnew() {
  auto made = std::make_unique<Worker>();
  made->jobs = std::move(worker()->jobs);
  made->isEnding = worker()->isEnding;
  worker() = made.release();
  if (!worker()->jobs.empty() && !start(*worker())) {
    worker()->jobs.clear();
  }
}

/// Never destroyed: the thread may be running when the process ends without exit handlers.
Worker*& worker() {
  static Worker* instance = [] {
    // A fork calls the handlers given last first: the running job ends before the kernels, which it may need, are locked.
    kernelCacheStatistics();
    auto made = std::make_unique<Worker>();
    ::pthread_atfork(lockBoth, unlockBoth, beginAnew);
    std::atexit(endAtExit);
    return made.release();
  }();
  return instance;
}

}  // namespace

std::shared_future<void> runInBackground(std::function<void()> job) {
  Job task(std::move(job));
  std::shared_future<void> done = task.get_future().share();
  Worker& own = *worker();
  const std::scoped_lock lock(own.mutex);
  if (!own.isEnding && start(own)) {
    own.jobs.push_back(std::move(task));
    own.hasWork.notify_one();
  }
  return done;
}

void endBackgroundThread() noexcept {
  Worker& own = *worker();
  std::deque<Job> dropped;
  std::thread thread;
  {
    const std::scoped_lock lock(own.mutex);
    own.isEnding = true;
    dropped.swap(own.jobs);
    thread.swap(own.thread);
    own.hasWork.notify_one();
  }
  if (thread.joinable()) {
    thread.join();
  }
}

}  // namespace meshfuse
