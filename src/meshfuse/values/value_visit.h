// Calling a function with the plain value that one or several values hold.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "meshfuse/base/error.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Names a member type without making one.
template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `f` with a TypeTag for every member type, in the order of ValueKind.
template <class F>
constexpr void forEachMemberType(F&& f) {
  f(TypeTag<bool>{});
  f(TypeTag<int64_t>{});
  f(TypeTag<double>{});
  f(TypeTag<std::complex<double>>{});
  f(TypeTag<at::Tensor>{});
  f(TypeTag<DistributedTensor>{});
  f(TypeTag<Pointer>{});
  f(TypeTag<Opaque>{});
  f(TypeTag<StructHandle>{});
  f(TypeTag<PolymorphicValue::Values>{});
}

namespace detail {

struct Nothing {};

// The type two branches have in common: theirs if equal; the type of the other if one returns nothing; else a value.
template <class A, class B>
using JoinResults = std::conditional_t<
    std::is_same_v<A, Nothing>, B,
    std::conditional_t<std::is_same_v<B, Nothing> || std::is_same_v<A, B>, A, PolymorphicValue>>;

template <class F, class T>
using BranchResult = std::conditional_t<std::is_void_v<std::invoke_result_t<F&, T>>, Nothing,
                                        std::invoke_result_t<F&, T>>;

template <class F, class First, class... Rest>
struct JoinAll {
  using type = JoinResults<BranchResult<F, First>, typename JoinAll<F, Rest...>::type>;
};
template <class F, class Last>
struct JoinAll<F, Last> {
  using type = BranchResult<F, Last>;
};

template <class F>
using JoinedResult = typename JoinAll<F, std::monostate, const bool&, const int64_t&, const double&,
                                      const std::complex<double>&, const at::Tensor&,
                                      const DistributedTensor&, const Pointer&, const Opaque&,
                                      const StructHandle&, const PolymorphicValue::Values&>::type;

template <class Joined>
using ResultOf = std::conditional_t<std::is_same_v<Joined, Nothing>, void, Joined>;

template <class Result, class F, class T>
Result callBranch(F& f, T&& plain) {
  if constexpr (std::is_void_v<Result>) {
    std::invoke(f, std::forward<T>(plain));
  } else if constexpr (std::is_void_v<std::invoke_result_t<F&, T>>) {
    throwUser(ErrorKind::Type,
              {"visit", "every kind must give a result when one does",
               "a kind whose branch gives none", "return a value from every branch"});
  } else {
    return std::invoke(f, std::forward<T>(plain));
  }
}

}  // namespace detail

/// Calls `f` with what the value holds: std::monostate for None, else a const reference to the member (the value's own for all but
/// Pointer). Gives what the branches give when they agree (a reference too), a PolymorphicValue when they differ; a branch that
/// gives nothing while others give something throws UserError(Type).
template <class F>
detail::ResultOf<detail::JoinedResult<std::remove_reference_t<F>>> visit(
    F&& f, const PolymorphicValue& value) {
  using Result = detail::ResultOf<detail::JoinedResult<std::remove_reference_t<F>>>;
  switch (value.kind()) {
    case ValueKind::None:
      return detail::callBranch<Result>(f, std::monostate{});
    case ValueKind::Bool:
      return detail::callBranch<Result>(f, value.as<bool>());
    case ValueKind::Int:
      return detail::callBranch<Result>(f, value.as<int64_t>());
    case ValueKind::Double:
      return detail::callBranch<Result>(f, value.as<double>());
    case ValueKind::Complex:
      return detail::callBranch<Result>(f, value.as<std::complex<double>>());
    case ValueKind::Tensor:
      return detail::callBranch<Result>(f, value.tensorUnchecked());
    case ValueKind::DistributedTensor:
      return detail::callBranch<Result>(f, value.distributedUnchecked());
    case ValueKind::Pointer: {
      const Pointer pointer = value.as<Pointer>();
      return detail::callBranch<Result>(f, pointer);
    }
    case ValueKind::Opaque:
      return detail::callBranch<Result>(f, value.as<Opaque>());
    case ValueKind::Struct:
      return detail::callBranch<Result>(f, value.as<StructHandle>());
    case ValueKind::Vector:
      return detail::callBranch<Result>(f, value.as<PolymorphicValue::Values>());
  }
  throwInternal("a value has one of the listed kinds");
}

/// The same for several values: `f` is called with the plain value of each, in order.
template <class F>
auto visit(F&& f, const PolymorphicValue& first, const PolymorphicValue& second) {
  return visit(
      [&](const auto& a) {
        return visit([&](const auto& b) { return std::invoke(f, a, b); }, second);
      },
      first);
}

}  // namespace meshfuse
