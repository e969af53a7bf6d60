/// @file
/// The vector types of CUDA and HIP, with their alignment, and `dim3`. As in CUDA they have no
/// operators of their own.
#pragma once

#include <concepts>

#include "common/gpu/simt.hpp"

// A word that is one expression: what it is and gives, its name, its parameters, its value.
#define TENFOLD_WORD(result, name, parameters, ...) \
  result name parameters {                          \
    return __VA_ARGS__;                             \
  }

// In pairs and fours a vector is aligned to its size, as far as 16 bytes, the widest access.
#define TENFOLD_VECTORS(T, name)                                                                 \
  struct name##1 {                                                                               \
    T x;                                                                                         \
  };                                                                                             \
  struct alignas(2 * sizeof(T)) name##2 {                                                        \
    T x, y;                                                                                      \
  };                                                                                             \
  struct name##3 {                                                                               \
    T x, y, z;                                                                                   \
  };                                                                                             \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 {                              \
    T x, y, z, w;                                                                                \
  };                                                                                             \
  TENFOLD_WORD(constexpr name##1, make_##name##1, (T x), {x})                                    \
  TENFOLD_WORD(constexpr name##2, make_##name##2, (T x, T y), {x, y})                            \
  TENFOLD_WORD(constexpr name##3, make_##name##3, (T x, T y, T z), {x, y, z})                    \
  TENFOLD_WORD(constexpr name##4, make_##name##4, (T x, T y, T z, T w), {x, y, z, w})            \
  namespace tenfold::simt {                                                                      \
  template <typename V>                                                                          \
    requires std::same_as<V, name##1> || std::same_as<V, name##2> || std::same_as<V, name##3> || \
             std::same_as<V, name##4>                                                            \
  constexpr bool is_vector(const V&) {                                                           \
    return true;                                                                                 \
  }                                                                                              \
  }
TENFOLD_VECTORS(signed char, char)
TENFOLD_VECTORS(unsigned char, uchar)
TENFOLD_VECTORS(short, short)
TENFOLD_VECTORS(unsigned short, ushort)
TENFOLD_VECTORS(int, int)
TENFOLD_VECTORS(unsigned, uint)
TENFOLD_VECTORS(long, long)
TENFOLD_VECTORS(unsigned long, ulong)
TENFOLD_VECTORS(long long, longlong)
TENFOLD_VECTORS(unsigned long long, ulonglong)
TENFOLD_VECTORS(float, float)
TENFOLD_VECTORS(double, double)
#undef TENFOLD_VECTORS

namespace tenfold::simt {

/// What vectors are made of.
template <typename T>
concept number = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

template <typename T>
concept vector = requires(const T& v) { is_vector(v); };

constexpr index3::operator ::uint3() const {
  return {x, y, z};
}

}  // namespace tenfold::simt

/// The extent of a grid or a block.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr dim3(tenfold::simt::index3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
