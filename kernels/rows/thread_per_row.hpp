// Rows: a thread folds a row
//
// A row of a few elements leaves nothing for a second thread to do. But if each thread reads its
// own row from memory, neighbouring lanes read a row apart, and one load of a warp touches many
// sectors. Short rows that follow each other are one stretch of memory. So the block copies a tile
// of whole rows to shared memory, in loads of 16 bytes, and there each thread folds rows of its
// own.
//
// A tile is as many bytes whatever the rows' length, so that rows of one element keep as many loads
// on their way as longer ones. Rows with gaps between them are copied element by element.
//
// Watch: sectors per request to global memory, which are those of a copy; and bank conflicts. There
// are none where a row is an odd number of words, and two lanes meet in a bank where it is twice an
// odd number. In rows of a multiple of 16 bytes four or more would: lanes_per_row.hpp takes those.
#pragma once

#include <cstddef>

#include "common/gpu.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"

namespace tenfold::inline TENFOLD_BACKEND::thread_per_row {

/// A thread brings 64 bytes of a tile, in loads of 16. A row may have as many.
inline constexpr int loads = 4;
inline constexpr std::size_t largest_row = loads * 16;

template <typename In>
inline constexpr int width = gpu::vector_width<In, 16>;
template <int BlockSize, typename In>
inline constexpr int tile = (BlockSize * loads) * width<In>;

/// So many that each tile begins where a vector may.
template <int BlockSize, typename In>
__host__ __device__ constexpr unsigned rows_of_tile(unsigned columns) {
  return tile<BlockSize, In> / columns / width<In> * width<In>;
}

/// @tparam In elements that fill 16 bytes evenly, two or more of them
/// @param columns from 1 on, in no more bytes than `largest_row`
template <int BlockSize, typename In, typename T, typename Op>
__global__ void __launch_bounds__(BlockSize)
    reduce_rows(const In* in, T* out, std::size_t rows, std::size_t columns, std::size_t stride,
                Op op) {
  constexpr int Width = width<In>;
  __shared__ gpu::shared_array<In, tile<BlockSize, In>> shared;
  const unsigned tid = threadIdx.x, length = static_cast<unsigned>(columns);
  const unsigned most = rows_of_tile<BlockSize, In>(length);

  for (std::size_t first = std::size_t{blockIdx.x} * most; first < rows;
       first += std::size_t{gridDim.x} * most) {
    const In* begin = in + first * stride;
    const unsigned here = rows - first < most ? static_cast<unsigned>(rows - first) : most;
    const unsigned count = here * length;
    const bool in_vectors = stride == columns && gpu::is_vector_aligned<Width>(begin);
    const unsigned whole = in_vectors ? count / Width * Width : 0;

    static_array<static_array<In, Width>, loads> vectors{};
    static_for<0, less_than<loads>, increment<1>>([&]<int L>() {
      const unsigned i = (L * BlockSize + tid) * Width;
      if (i < whole) get<L>(vectors) = gpu::load_vector<Width>(begin + i);
    });
    static_for<0, less_than<loads>, increment<1>>([&]<int L>() {
      const unsigned i = (L * BlockSize + tid) * Width;
      if (i < whole)
        static_for<0, less_than<Width>, increment<1>>(
            [&]<int W>() { shared[i + W] = get<W>(get<L>(vectors)); });
    });
    for (unsigned i = whole + tid; i < count; i += BlockSize)
      shared[i] = begin[i / length * stride + i % length];
    __syncthreads();

    for (unsigned row = tid; row < here; row += BlockSize) {
      T result = op.identity();
      for (unsigned i = 0; i < length; ++i) result = op(result, T(shared[row * length + i]));
      out[first + row] = result;
    }
    __syncthreads();  // before the next tile takes the place of this one
  }
}

}  // namespace tenfold::inline TENFOLD_BACKEND::thread_per_row
