// Four calls in a row, written in several ways, for compilers for the CPU.
#pragma once

#include <cstdio>

#include "common/tmp.hpp"

namespace tenfold::claims {

extern "C" inline void print(int i) {
  std::printf("%d", i);
}

extern "C" void language_loop() {
  for (int i = 0; i < 4; ++i) print(i);
}

extern "C" void static_loop() {
  static_for<0, less_than<4>, increment<1>>([]<int I>() { print(I); });
}

extern "C" void by_hand() {
  print(0);
  print(1);
  print(2);
  print(3);
}

extern "C" void loop_with_pragma() {
#ifdef __clang__
#pragma unroll
#else
#pragma GCC unroll 4
#endif
  for (int i = 0; i < 4; ++i) print(i);
}

}  // namespace tenfold::claims
