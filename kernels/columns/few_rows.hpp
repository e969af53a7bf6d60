// Columns: a thread folds some, alone
//
// Of a matrix of a few rows, a thread has little to fold: the elements of its columns, as many as a
// load of 16 bytes brings, in as many loads as there are rows. All are on their way at once, and
// the results are written at once. There is nothing to share, and no barrier.
//
// Watch: bytes a second, of which the results are a large part.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::few_rows {

inline constexpr int most = 8;  ///< rows

/// @param rows no more than `most`
/// @param once whether loads are marked as read once
template <int BlockSize, int Width, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_columns(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                   Op op, bool once) {
  const bool in_vectors = gpu::is_vector_aligned<Width>(in);
  for (std::size_t i = (std::size_t{blockIdx.x} * BlockSize + threadIdx.x) * Width; i < columns;
       i += std::size_t{gridDim.x} * BlockSize * Width) {
    if (in_vectors && i + Width <= columns) {
      static_array<static_array<In, Width>, most> loaded{};
      static_for<0, less_than<most>, increment<1>>([&]<int R>() {
        if (R < rows) get<R>(loaded) = gpu::load_vector<Width>(in + R * stride + i, once);
      });
      static_array<T, Width> results;
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() {
        T result = op.identity();
        static_for<0, less_than<most>, increment<1>>([&]<int R>() {
          if (R < rows) result = op(result, T(get<W>(get<R>(loaded))));
        });
        get<W>(results) = result;
      });
      if constexpr (Width * sizeof(T) <= 16)
        if (gpu::is_vector_aligned<Width>(out)) {
          gpu::store_vector<Width>(out + i, results);
          continue;
        }
      static_for<0, less_than<Width>, increment<1>>([&]<int W>() { out[i + W] = get<W>(results); });
    } else {  // the last columns, or all of a matrix that begins out of alignment
      for (std::size_t column = i; column < columns && column < i + Width; ++column) {
        T result = op.identity();
        for (std::size_t row = 0; row < rows; ++row)
          result = op(result, T(in[row * stride + column]));
        out[column] = result;
      }
    }
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::few_rows
