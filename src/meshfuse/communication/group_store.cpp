#include "meshfuse/communication/group_store.h"

#include <map>
#include <mutex>

#include <c10/util/Exception.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "meshfuse/communication/local_process.h"

namespace meshfuse {

struct GroupStore::Connection {
  c10::intrusive_ptr<c10d::Store> store;  // null over TCP until the first call
  std::string address;
  std::string host;
  uint16_t port = 0;
  std::mutex opening;
  std::mutex lossMutex;
  std::string loss;

  c10d::Store& open();
  void giveUp(const std::string& why);
  void throwIfLost();
};

namespace {

// A prefix is part of what keeps two groups' keys apart (torchrun puts the attempt's number there); PrefixStore has no
// getter for it.
struct PrefixAccess : c10d::PrefixStore {
  static const std::string& of(const c10d::PrefixStore& store) {
    return store.*(&PrefixAccess::prefix_);
  }
};

constexpr std::chrono::seconds kConnectTimeout{10};

}  // namespace

c10d::Store& GroupStore::Connection::open() {
  throwIfLost();
  const std::lock_guard lock(opening);
  if (!store) {
    c10d::TCPStoreOptions options;
    options.port = port;
    options.waitWorkers = false;
    options.timeout = kConnectTimeout;
    store = c10::make_intrusive<c10d::TCPStore>(host, options);
  }
  return *store;
}

void GroupStore::Connection::giveUp(const std::string& why) {
  const std::lock_guard lock(lossMutex);
  if (loss.empty()) {
    loss = "the store at " + address + " " + why;
  }
}

void GroupStore::Connection::throwIfLost() {
  const std::lock_guard lock(lossMutex);
  if (!loss.empty()) {
    throw StoreLost(loss);
  }
}

GroupStore::GroupStore(const c10::intrusive_ptr<c10d::Store>& store) : prefix_("meshfuse/") {
  c10::intrusive_ptr<c10d::Store> below = store;
  while (auto* prefixed = dynamic_cast<c10d::PrefixStore*>(below.get())) {
    prefix_ = PrefixAccess::of(*prefixed) + "/" + prefix_;
    below = prefixed->getUnderlyingStore();
  }
  auto* tcp = dynamic_cast<c10d::TCPStore*>(below.get());
  if (tcp == nullptr) {
    connection_ = std::make_shared<Connection>();
    connection_->store = std::move(below);
    connection_->address = "this process group (not over TCP)";
    return;
  }
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Connection>> connections;
  const std::string address = tcp->getHost() + ":" + std::to_string(tcp->getPort());
  const std::lock_guard lock(mutex);
  std::erase_if(connections, [](const auto& entry) { return entry.second.expired(); });
  connection_ = connections[address].lock();
  if (!connection_) {
    connection_ = std::make_shared<Connection>();
    connection_->address = address;
    connection_->host = tcp->getHost();
    connection_->port = tcp->getPort();
    connections[address] = connection_;
  }
}

GroupStore::~GroupStore() = default;

namespace {

// Any failure of a store that does not wait for keys means that its host is gone.
template <class Connection, class Call>
auto orLost(Connection& connection, Call call) {
  try {
    return call(connection.open());
  } catch (const c10::Error& error) {
    connection.giveUp(std::string("is lost (") + error.what_without_backtrace() + ")");
  } catch (const StoreLost&) {
    throw;
  } catch (const std::exception& error) {
    connection.giveUp(std::string("is lost (") + error.what() + ")");
  }
  connection.throwIfLost();
  throw StoreLost("the store is lost");
}

std::vector<std::string> prefixed(const std::string& prefix, const std::vector<std::string>& keys) {
  std::vector<std::string> out;
  out.reserve(keys.size());
  for (const std::string& key : keys) {
    out.push_back(prefix + key);
  }
  return out;
}

}  // namespace

void GroupStore::set(const std::string& key, const std::string& value) {
  orLost(*connection_, [&](c10d::Store& store) {
    store.set(prefix_ + key, std::vector<uint8_t>(value.begin(), value.end()));
  });
}

std::vector<std::string> GroupStore::get(const std::vector<std::string>& keys) {
  const std::vector<std::string> full = prefixed(prefix_, keys);
  return orLost(*connection_, [&](c10d::Store& store) {
    std::vector<std::string> values;
    values.reserve(full.size());
    if (store.hasExtendedApi()) {
      for (const std::vector<uint8_t>& value : store.multiGet(full)) {
        values.emplace_back(value.begin(), value.end());
      }
      return values;
    }
    for (const std::string& key : full) {
      const std::vector<uint8_t> value = store.get(key);
      values.emplace_back(value.begin(), value.end());
    }
    return values;
  });
}

bool GroupStore::has(const std::vector<std::string>& keys) {
  return orLost(*connection_,
                [&](c10d::Store& store) { return store.check(prefixed(prefix_, keys)); });
}

int64_t GroupStore::add(const std::string& key, int64_t increment) {
  return orLost(*connection_,
                [&](c10d::Store& store) { return store.add(prefix_ + key, increment); });
}

const std::string& GroupStore::address() const noexcept { return connection_->address; }

void GroupStore::noticeHangUp() {
  if (connection_->port != 0 && peerHungUp(connection_->port)) {
    connection_->giveUp("is lost (its host closed the connection)");
  }
}

void GroupStore::giveUp(const std::string& why) { connection_->giveUp(why); }

}  // namespace meshfuse
