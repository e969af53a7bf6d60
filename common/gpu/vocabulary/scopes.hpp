/// @file
/// `cuda::atomic_ref`, `cuda::atomic` and `cuda::barrier`: the headers cuda/atomic and
/// cuda/barrier.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "common/gpu/vocabulary.hpp"

namespace cuda {

namespace std = ::std;

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order == memory_order_relaxed || scope == thread_scope_thread) return;
  if (scope == thread_scope_block)
    __threadfence_block();
  else
    __threadfence();
}

/// Atomic access to a variable that others access in other ways. What an operation orders is a
/// fence before it, after it or both, as in PTX.
template <typename T, thread_scope Scope = thread_scope_system>
class atomic_ref {
  using value_access = std::atomic_ref<T>;

 public:
  explicit atomic_ref(T& variable) : access_(variable), address_(&variable) {}
  atomic_ref& operator=(const atomic_ref&) = delete;
  T operator=(T value) const {
    store(value);
    return value;
  }
  operator T() const { return load(); }

  [[nodiscard]] T load(memory_order order = memory_order_seq_cst) const {
    return ordered(order, [&] { return access_.load(memory_order_relaxed); });
  }
  void store(T value, memory_order order = memory_order_seq_cst) const {
    ordered(order, [&] {
      access_.store(value, memory_order_relaxed);
      return 0;
    });
  }
  T exchange(T value, memory_order order = memory_order_seq_cst) const {
    return ordered(order, [&] { return access_.exchange(value, memory_order_relaxed); });
  }
  bool compare_exchange_strong(T& expected, T desired,
                               memory_order order = memory_order_seq_cst) const {
    return ordered(order, [&] {
      return access_.compare_exchange_strong(expected, desired, memory_order_relaxed);
    });
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order success, memory_order) const {
    return compare_exchange_strong(expected, desired, success);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order success, memory_order) const {
    return compare_exchange_strong(expected, desired, success);
  }

  T operator++() const { return fetch_add(1) + 1; }
  T operator++(int) const { return fetch_add(1); }
  T operator--() const { return fetch_sub(1) - 1; }
  T operator--(int) const { return fetch_sub(1); }
  T operator+=(T value) const { return fetch_add(value) + value; }
  T operator-=(T value) const { return fetch_sub(value) - value; }

#define TENFOLD_FETCH(name, call)                                    \
  T name(T value, memory_order order = memory_order_seq_cst) const { \
    return ordered(order, [&] { return call; });                     \
  }
  TENFOLD_FETCH(fetch_add, atomicAdd(address_, value))
  TENFOLD_FETCH(fetch_sub, atomicAdd(address_, static_cast<T>(-value)))
  TENFOLD_FETCH(fetch_min, atomicMin(address_, value))
  TENFOLD_FETCH(fetch_max, atomicMax(address_, value))
  TENFOLD_FETCH(fetch_and, atomicAnd(address_, value))
  TENFOLD_FETCH(fetch_or, atomicOr(address_, value))
  TENFOLD_FETCH(fetch_xor, atomicXor(address_, value))
#undef TENFOLD_FETCH

 private:
  template <typename Action>
  static auto ordered(memory_order order, Action act) {
    if (order != memory_order_acquire && order != memory_order_consume)
      atomic_thread_fence(order, Scope);
    const auto result = act();
    if (order != memory_order_release) atomic_thread_fence(order, Scope);
    return result;
  }

  value_access access_;
  T* address_;
};

/// A variable that is accessed in no other way.
template <typename T, thread_scope Scope = thread_scope_system>
class atomic {
 public:
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  T operator=(T value) {
    store(value);
    return value;
  }
  operator T() const { return load(); }

  [[nodiscard]] T load(memory_order order = memory_order_seq_cst) const {
    return atomic_ref<T, Scope>(const_cast<T&>(value_)).load(order);
  }
  T operator++() { return ++ref(); }
  T operator++(int) { return ref()++; }
  T operator--() { return --ref(); }
  T operator--(int) { return ref()--; }
  T operator+=(T value) { return ref() += value; }
  T operator-=(T value) { return ref() -= value; }

#define TENFOLD_FORWARD(name)                                 \
  template <typename... Arguments>                            \
  auto name(Arguments&&... arguments) {                       \
    return ref().name(std::forward<Arguments>(arguments)...); \
  }
  TENFOLD_FORWARD(store)
  TENFOLD_FORWARD(exchange)
  TENFOLD_FORWARD(compare_exchange_strong)
  TENFOLD_FORWARD(compare_exchange_weak)
  TENFOLD_FORWARD(fetch_add)
  TENFOLD_FORWARD(fetch_sub)
  TENFOLD_FORWARD(fetch_min)
  TENFOLD_FORWARD(fetch_max)
  TENFOLD_FORWARD(fetch_and)
  TENFOLD_FORWARD(fetch_or)
  TENFOLD_FORWARD(fetch_xor)
#undef TENFOLD_FORWARD

 private:
  atomic_ref<T, Scope> ref() { return atomic_ref<T, Scope>(value_); }

  T value_;
};

/// A barrier of all threads of a block. Of fewer the executor has none.
template <thread_scope Scope, typename Completion = void>
class barrier {
  static_assert(Scope == thread_scope_block, "the executor has barriers of a block alone");

 public:
  struct arrival_token {};

  friend void init(barrier* made, std::ptrdiff_t expected) { made->expected_ = expected; }

  [[nodiscard]] arrival_token arrive() {
    check();
    return {};
  }
  void wait(arrival_token&&, TENFOLD_CALLED_FROM) { tenfold::simt::sync_block({file, line}); }
  void arrive_and_wait(TENFOLD_CALLED_FROM) {
    check();
    tenfold::simt::sync_block({file, line});
  }

 private:
  void check() const {
    if (expected_ != std::ptrdiff_t{blockDim.x * blockDim.y * blockDim.z})
      tenfold::simt::refuse(
          "comes to a cuda::barrier that not all threads of the block are expected at, which the "
          "executor does not have: initialise it with the block's size, in one thread and before a "
          "__syncthreads()");
  }

  std::ptrdiff_t expected_;
};

/// Elements from global to shared memory, which are there after the barrier.
template <typename Group, typename T, thread_scope Scope>
void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes, barrier<Scope>&) {
  for (std::size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size())
    to[i] = from[i];
}

}  // namespace cuda
