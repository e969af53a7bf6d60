// What kernels call that were compiled to be observed: with -fsanitize=thread, but without that
// sanitizer's library, the compiler has every access to memory call one of the functions below, and
// with -fsanitize-coverage=trace-pc the beginning of every basic block. This unit itself is not
// compiled so.
//
// The functions' names and signatures are those of ThreadSanitizer's interface (compiler-rt,
// lib/tsan/rtl/tsan_interface.h) and of SanitizerCoverage's.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/observe/recorder.hpp"

namespace tenfold::observe {
namespace {

/// The frame of the function that called the hook: what the hook itself saved on entry.
#define TENFOLD_CALLERS_FRAME (*static_cast<const std::uintptr_t*>(__builtin_frame_address(0)))
#define TENFOLD_CALLER (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)))

[[gnu::always_inline]] inline code_address code_address_of(std::uintptr_t caller) {
  return static_cast<code_address>(caller - 1 - code_begin);
}

[[gnu::always_inline]] inline void note(action what, const volatile void* address,
                                        std::size_t bytes, std::uintptr_t caller,
                                        std::uintptr_t frame, bool is_packed = false) {
  running_thread* const thread = running;
  if (thread == nullptr || thread->record == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at - thread->stacks_begin < thread->stacks_bytes) return;  // the thread's own variables
  thread->record->add(what, code_address_of(caller), at, static_cast<std::uint32_t>(bytes), frame,
                      is_packed);
}

[[gnu::always_inline]] inline void enter(std::uintptr_t caller, std::uintptr_t frame) {
  running_thread* const thread = running;
  if (thread == nullptr) return;
  if (thread_record* const record = thread->record) {
    if (!record->is_in_kernel()) {
      if (caller - thread->kernel_begin >= thread->kernel_bytes) return;
      record->enter_kernel(frame);
    }
    record->add(action::basic_block, code_address_of(caller), 0, 0, frame);
  }
  if (--*thread->steps_left == 0) simt::stop_block();
}

}  // namespace
}  // namespace tenfold::observe

using tenfold::observe::action;

#define TENFOLD_NOTE(what, address, bytes) \
  tenfold::observe::note(action::what, address, bytes, TENFOLD_CALLER, TENFOLD_CALLERS_FRAME)

// Of a type that need not be aligned to its size.
#define TENFOLD_NOTE_PACKED(what, address, bytes) \
  tenfold::observe::note(action::what, address, bytes, TENFOLD_CALLER, TENFOLD_CALLERS_FRAME, true)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define TENFOLD_ACCESS(note, name, what, bytes) \
  void __tsan_##name##bytes(void* p) {          \
    note(what, p, bytes);                       \
  }
#define TENFOLD_ACCESSES(bytes)                                               \
  TENFOLD_ACCESS(TENFOLD_NOTE, read, read, bytes)                             \
  TENFOLD_ACCESS(TENFOLD_NOTE, write, write, bytes)                           \
  TENFOLD_ACCESS(TENFOLD_NOTE, volatile_read, read, bytes)                    \
  TENFOLD_ACCESS(TENFOLD_NOTE, volatile_write, write, bytes)                  \
  TENFOLD_ACCESS(TENFOLD_NOTE_PACKED, unaligned_read, read, bytes)            \
  TENFOLD_ACCESS(TENFOLD_NOTE_PACKED, unaligned_write, write, bytes)          \
  TENFOLD_ACCESS(TENFOLD_NOTE_PACKED, unaligned_volatile_read, read, bytes)   \
  TENFOLD_ACCESS(TENFOLD_NOTE_PACKED, unaligned_volatile_write, write, bytes) \
  void __tsan_read_write##bytes(void* p) {                                    \
    TENFOLD_NOTE(read, p, bytes);                                             \
    TENFOLD_NOTE(write, p, bytes);                                            \
  }
TENFOLD_ACCESSES(1)
TENFOLD_ACCESSES(2)
TENFOLD_ACCESSES(4)
TENFOLD_ACCESSES(8)
TENFOLD_ACCESSES(16)

void __tsan_read_range(void* p, unsigned long bytes) {
  TENFOLD_NOTE_PACKED(read, p, bytes);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  TENFOLD_NOTE_PACKED(write, p, bytes);
}

#define TENFOLD_FETCH(bits, name, type)                                        \
  type __tsan_atomic##bits##_fetch_##name(volatile type* p, type value, int) { \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                     \
    return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST);                  \
  }
#define TENFOLD_COMPARE(bits, name, type, result)                                                 \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type* p, type* expected, type value, \
                                                    int, int) {                                   \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                                        \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,               \
                                       __ATOMIC_SEQ_CST);                                         \
  }
#define TENFOLD_ATOMICS(bits, type)                                                              \
  type __tsan_atomic##bits##_load(const volatile type* p, int) {                                 \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                                       \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                          \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                                       \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  type __tsan_atomic##bits##_exchange(volatile type* p, type value, int) {                       \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                                       \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                              \
  TENFOLD_FETCH(bits, add, type)                                                                 \
  TENFOLD_FETCH(bits, sub, type)                                                                 \
  TENFOLD_FETCH(bits, and, type)                                                                 \
  TENFOLD_FETCH(bits, or, type)                                                                  \
  TENFOLD_FETCH(bits, xor, type)                                                                 \
  TENFOLD_FETCH(bits, nand, type)                                                                \
  TENFOLD_COMPARE(bits, strong, type, )                                                          \
  TENFOLD_COMPARE(bits, weak, type, )                                                            \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type value,   \
                                                  int, int) {                                    \
    TENFOLD_NOTE(atomic, p, sizeof(type));                                                       \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                             \
  }
TENFOLD_ATOMICS(8, unsigned char)
TENFOLD_ATOMICS(16, unsigned short)
TENFOLD_ATOMICS(32, unsigned)
TENFOLD_ATOMICS(64, unsigned long)

void __tsan_atomic_thread_fence(int order) {
  if (order == __ATOMIC_SEQ_CST)
    TENFOLD_NOTE(fence, nullptr, 0);
  else
    TENFOLD_NOTE(block_fence, nullptr, 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int) {}

// The C library's own copies, to which the linker leads a kernel's.
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  TENFOLD_NOTE_PACKED(read, from, bytes);
  TENFOLD_NOTE_PACKED(write, to, bytes);
  return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  TENFOLD_NOTE_PACKED(read, from, bytes);
  TENFOLD_NOTE_PACKED(write, to, bytes);
  return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int byte, std::size_t bytes) {
  TENFOLD_NOTE_PACKED(write, to, bytes);
  return std::memset(to, byte, bytes);
}

void __sanitizer_cov_trace_pc() {
  tenfold::observe::enter(TENFOLD_CALLER, TENFOLD_CALLERS_FRAME);
}
}
