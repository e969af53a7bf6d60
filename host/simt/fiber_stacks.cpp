#include "host/simt/fiber_stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "host/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define TENFOLD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENFOLD_ASAN 1
#endif
#endif
#ifdef TENFOLD_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace tenfold::simt {
namespace {

constexpr std::size_t guard_bytes = 64 * 1024;  // so that no frame steps over it
#ifdef TENFOLD_ASAN
constexpr std::size_t stack_bytes = 256 * 1024;  // instrumented frames are several times as large
#else
constexpr std::size_t stack_bytes = 64 * 1024;
#endif
constexpr std::size_t pitch = guard_bytes + stack_bytes;

// Stacks at the same offset of their pages would compete for the same few cache sets.
constexpr std::size_t colours = 16, colour_bytes = 128;

}  // namespace

fiber_stacks::fiber_stacks(unsigned count) : bytes_(count * pitch) {
  void* slab = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED)
    throw device_error(
        fmt::format("cannot reserve {} bytes of stacks for {} threads of a block: {}", bytes_,
                    count, std::strerror(errno)));
  base_ = static_cast<std::byte*>(slab);
  for (unsigned i = 0; i < count; ++i)
    if (mprotect(base_ + i * pitch, guard_bytes, PROT_NONE) != 0) {
      const int reason = errno;
      munmap(base_, bytes_);
      throw device_error(fmt::format(
          "cannot protect the stacks of a block's threads: {}; set TENFOLD_THREADS lower",
          std::strerror(reason)));
    }
}

fiber_stacks::~fiber_stacks() {
  forget_frames();
  munmap(base_, bytes_);
}

void* fiber_stacks::top(unsigned i) const {
  return base_ + (i + 1) * pitch - i % colours * colour_bytes;
}

std::size_t fiber_stacks::usable_bytes(unsigned i) const {
  return stack_bytes - i % colours * colour_bytes;
}

bool fiber_stacks::is_guard(const void* address) const {
  const auto* p = static_cast<const std::byte*>(address);
  return p >= base_ && p < base_ + bytes_ &&
         static_cast<std::size_t>(p - base_) % pitch < guard_bytes;
}

void fiber_stacks::forget_frames() {
#ifdef TENFOLD_ASAN
  __asan_unpoison_memory_region(base_, bytes_);
#endif
}

}  // namespace tenfold::simt
