// Columns: a thread folds some, alone
//
// Of a matrix of a few rows, a thread has little to fold: the elements of its columns, in as many
// loads as there are rows. All are on their way at once, 16 bytes of each row. Threads side by side
// write results side by side, 16 bytes each: of narrow elements these are few columns, so that a
// thread takes such columns several times, as far apart as its block is wide. There is nothing to
// share, and no barrier.
//
// Where rows begin anywhere, a thread loads the elements of its columns one by one. Then its
// columns lie apart, and those of its neighbours beside them.
//
// Watch: bytes a second, of which the results are a large part.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "kernels/rows/elements.hpp"

namespace tenfold::inline TENFOLD_BACKEND::few_rows {

inline constexpr int most = 8;  ///< rows

/// Columns side by side that a thread takes: as many as the widest store takes results, but four
/// bytes of elements or more, and no more than eight: where they cannot be loaded at once, each
/// element takes a register.
__host__ __device__ constexpr int width(std::size_t element_bytes, std::size_t result_bytes) {
  if (is_large(result_bytes)) return 1;
  const auto in_vector = [](std::size_t bytes) {
    return 16 % bytes == 0 ? static_cast<int>(16 / bytes) : 1;
  };
  const int store = in_vector(result_bytes) < 8 ? in_vector(result_bytes) : 8;
  const int word = element_bytes < 4 ? static_cast<int>(4 / element_bytes) : 1;
  const int most = in_vector(element_bytes), least = store < word ? word : store;
  return least < most ? least : most;
}
/// How often it takes so many, a block's width apart: so often that it has 16 bytes of each row.
__host__ __device__ constexpr int turns(std::size_t element_bytes, std::size_t result_bytes,
                                        int width) {
  if (is_large(result_bytes)) return 1;
  const std::size_t bytes = element_bytes * static_cast<std::size_t>(width);
  return bytes < 16 ? static_cast<int>(16 / bytes) : 1;
}

/// The folds of so many elements of each row.
template <typename T, typename In, int Width, typename Op>
__device__ static_array<T, Width> fold(const static_array<loaded_vector<In, Width>, most>& loaded,
                                       std::size_t rows, Op op) {
  static_array<T, Width> results;
  static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
    T result = op.identity();
    static_for<0, less_than<most>, increment<1>>([&]<int R>() {
      if (R < rows) result = op(result, T(get<W>(get<R>(loaded).items())));
    });
    get<W>(results) = result;
  });
  return results;
}

/// Stores Count results from the one at First on.
template <int First, int Count, typename T, int Width>
__device__ void store(T* to, const static_array<T, Width>& results) {
  if constexpr (Count == 1) {
    *to = get<First>(results);
  } else {
    static_array<T, Count> some;
    static_for<0, less_than<Count>, increment<1>>(
        [&]<int I>() { get<I>(some) = get<First + I>(results); });
    gpu::store_vector(to, some);
  }
}

/// @param rows no more than `most`
/// @param in_vectors whether vectors may begin at each `width` columns of each row, and stores
/// @param once whether loads are marked as read once
template <int BlockSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_columns(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                   Op op, bool in_vectors, bool once) {
  constexpr int Width = width(sizeof(In), sizeof(T)), Turns = turns(sizeof(In), sizeof(T), Width);
  constexpr int Store = gpu::vector_width<T, Width>;
  constexpr std::size_t OfTurn = BlockSize * Width, OfBlock = OfTurn * Turns;
  using loaded = static_array<loaded_vector<In, Width>, most>;
  for (std::size_t begin = blockIdx.x * OfBlock; begin < columns; begin += gridDim.x * OfBlock) {
    if (in_vectors && begin + OfBlock <= columns) {
      const std::size_t i = begin + threadIdx.x * Width;
      static_array<loaded, Turns> all{};
      static_for<0, less_than<Turns>, increment<1>>([&]<int N>() {
        static_for<0, less_than<most>, increment<1>>([&]<int R>() {
          if (R < rows)
            get<R>(get<N>(all)) = gpu::load_vector<Width>(in + R * stride + i + N * OfTurn, once);
        });
      });
      static_for<0, less_than<Turns>, increment<1>>([&]<int N>() {
        const static_array<T, Width> results = fold<T>(get<N>(all), rows, op);
        static_for<0, less_than<Width>, increment<Store>>(
            [&]<int W>() { store<W, Store>(out + i + N * OfTurn + W, results); });
      });
    } else {  // the last columns, or all
      for (std::size_t i = begin + threadIdx.x; i < columns && i < begin + OfBlock; i += OfTurn) {
        loaded all{};
        static_for<0, less_than<most>, increment<1>>([&]<int R>() {
          static_array<In, Width> apart{};
          static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
            if (R < rows && i + W * BlockSize < columns)
              get<W>(apart) = in[R * stride + i + W * BlockSize];
          });
          get<R>(all) = apart;
        });
        const static_array<T, Width> results = fold<T>(all, rows, op);
        static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
          if (i + W * BlockSize < columns) out[i + W * BlockSize] = get<W>(results);
        });
      }
    }
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::few_rows
