/// @file
/// What every file of this folder is built with: libFuzzer hands `fuzz` bytes of its own making.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/error.hpp"

namespace tenfold {

/// Reads the bytes as a reader's file or option would be. It may refuse them with an input_error,
/// and nothing else may go wrong.
void fuzz(std::string_view bytes);

/// Runs what may refuse its input.
template <typename F>
void refuse_or(F&& read) {
  try {
    read();
  } catch (const input_error&) {
  }
}

/// Ends the program when an input has more than 64 MiB allocated at once.
class memory_limit {
 public:
  memory_limit() { limit_ = live_ + (std::ptrdiff_t{64} << 20); }
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;
  ~memory_limit() { limit_ = PTRDIFF_MAX; }

  static bool watch() {
    return __sanitizer_install_malloc_and_free_hooks(
               [](const volatile void*, std::size_t bytes) {
                 if ((live_ += static_cast<std::ptrdiff_t>(bytes)) > limit_) __builtin_trap();
               },
               [](const volatile void* freed) {
                 live_ -= static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(freed));
               }) != 0;
  }

 private:
  static inline std::ptrdiff_t live_ = 0, limit_ = PTRDIFF_MAX;
};

/// A file that holds the bytes, gone when this object is.
class file_in_memory {
 public:
  explicit file_in_memory(std::string_view bytes) : number_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (write(number_, bytes.data(), bytes.size()) < 0) __builtin_trap();
  }
  file_in_memory(const file_in_memory&) = delete;
  file_in_memory& operator=(const file_in_memory&) = delete;
  ~file_in_memory() { close(number_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace tenfold

extern "C" __attribute__((used)) inline int LLVMFuzzerTestOneInput(const std::uint8_t* bytes,
                                                                   std::size_t size) {
  [[maybe_unused]] static const bool is_watched = tenfold::memory_limit::watch();
  const tenfold::memory_limit limit;
  tenfold::refuse_or([=] { tenfold::fuzz({reinterpret_cast<const char*>(bytes), size}); });
  return 0;
}
