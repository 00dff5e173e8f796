// One thread of ours, for work that no call waits for.
#pragma once

#include <functional>
#include <future>

namespace meshfuse {

/// Runs `job`, which throws nothing, after those that were given before. The future is ready when it has run, or has been
/// dropped: the process ends, or the system gives no thread. A fork waits for the job that is running; the child runs the rest as well.
std::shared_future<void> runInBackground(std::function<void()> job);

/// Drops the jobs that have not begun, and those given from now on, and waits for the one that is running. The end of the
/// process does this, too.
void endBackgroundThread() noexcept;

}  // namespace meshfuse
