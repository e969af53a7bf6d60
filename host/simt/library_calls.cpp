/// @file
/// What a reader's kernel calls of the C library: the linker leads its calls here, by --wrap.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "host/simt/block_runner.hpp"

namespace {

/// Of a kernel it is shown after the launch, in the order of its blocks.
int print(const char* format, std::va_list values) {
  using tenfold::simt::block_runner;
  block_runner* const runner = block_runner::current();
  if (runner == nullptr) return std::vfprintf(stderr, format, values);
  std::va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, values);
  if (length > 0 && static_cast<std::size_t>(length) <= block_runner::most_printed) {
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, again);
    text.pop_back();
    runner->print(text);
  }
  va_end(again);
  return length;
}

}  // namespace

// As on a GPU a kernel may print.
extern "C" {

int __wrap_vfprintf(std::FILE* to, const char* format, std::va_list values) {
  return to == stdout ? print(format, values) : std::vfprintf(to, format, values);
}

int __wrap_printf(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int length = print(format, values);
  va_end(values);
  return length;
}

// What a system with _FORTIFY_SOURCE makes of printf, and what compilers and headers make of simple
// formats.
int __wrap___printf_chk(int, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int length = print(format, values);
  va_end(values);
  return length;
}
int __wrap_puts(const char* text) {
  return __wrap_printf("%s\n", text);
}
int __wrap_putchar(int character) {
  return __wrap_printf("%c", character);
}
int __wrap_putc(int character, std::FILE* to) {
  return to == stdout ? __wrap_printf("%c", character) : std::fputc(character, to);
}

// An assertion that fails in a kernel does not end the program: its launch ends with an error that
// names the thread and the assertion.
[[noreturn]] void __wrap___assert_fail(const char* what, const char* file, unsigned line,
                                       const char* /*function*/) {
  tenfold::simt::block_runner::current()->fail_running(
      {.kind = tenfold::simt::failure_kind::assertion,
       .text = what,
       .where = {file, static_cast<int>(line)}});
}

// A loop without an end is told as such.
void __wrap___sanitizer_cov_trace_pc() {
  tenfold::simt::block_runner::count_step();
}

// Nor does a kernel end the program, whose exit code would say that all is well.
#define TENFOLD_WRAP_END(call, parameters, arguments)                                    \
  [[noreturn]] void __wrap_##call parameters {                                           \
    if (tenfold::simt::block_runner* runner = tenfold::simt::block_runner::current())    \
      runner->fail_running({.kind = tenfold::simt::failure_kind::ended, .text = #call}); \
    ::call arguments;                                                                    \
  }
TENFOLD_WRAP_END(exit, (int code), (code))
TENFOLD_WRAP_END(_exit, (int code), (code))
TENFOLD_WRAP_END(_Exit, (int code), (code))
TENFOLD_WRAP_END(quick_exit, (int code), (code))
TENFOLD_WRAP_END(abort, (), ())

}  // extern "C"
