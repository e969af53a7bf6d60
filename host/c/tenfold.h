/// @file
/// Reductions for C, and for every language that calls C: the types and operators of the program,
/// by the names that it has for them.
///
///     float in[] = {1, 2, 3}, total;
///     if (tenfold_reduce("simt", "f32", "sum", in, 3, &total) != TENFOLD_OK)
///       puts(tenfold_last_error());
///
/// Any thread may call, at any time; a `tenfold_reducer` serves one thread and one stream at a time.
///
/// **Devices** are `simt`, `simt:64`, `cuda:0`, `hip:1`; NULL is the first there is, a GPU before
/// the executor. **Operators** are `sum`, `product`, `minimum`, `maximum`, `bit_and`, `bit_or` and
/// `bit_xor`, or in short `add`, `mul`, `min`, `max`, `and`, `or`, `xor`; the bits are integers'.
/// **Types** are those of the elements. A result has the same type, or a wider one:
///
/// | elements                         | result                             |
/// |----------------------------------|------------------------------------|
/// | `i32` `u32` `i64` `u64` `f32` `f64` | the same                        |
/// | `i8`, `u8`                       | `i64`, `u64`; no product, no bits  |
/// | `f16`, `bf16`                    | `f32`; no product                  |
///
/// Of no elements the result is what changes nothing: 0 of a sum (-0.0 of floats), minus infinity
/// of a maximum. Rows, columns and segments have `sum`, `minimum` and `maximum` alone, for each
/// further operator would take as long to compile again.
#ifndef TENFOLD_H
#define TENFOLD_H

#include <stdint.h>

#define TENFOLD_API __attribute__((visibility("default")))

#if defined(__cplusplus)
extern "C" {
#endif

/// Of this header. It grows with each function that is added; the others do not change.
#define TENFOLD_C_VERSION 2

/// That of the library: at least the header's, or a function may be missing.
TENFOLD_API int tenfold_version(void);

/// What became of a call.
typedef enum {
  TENFOLD_OK = 0,
  TENFOLD_BAD_INPUT = 2,     ///< a name, a pointer or a number that cannot be served
  TENFOLD_DEVICE_FAILED = 3  ///< no device, not enough memory, or a kernel that failed
} tenfold_status;

/// What was wrong with this thread's last call that failed, and what to do, in one line; empty
/// where none did. It lasts until the next that fails.
TENFOLD_API const char* tenfold_last_error(void);

/// Reduces `n` elements of the host's memory, and waits for the result.
/// @param in  `n` elements, which may lie anywhere
/// @param out room for a result, on the host
TENFOLD_API tenfold_status tenfold_reduce(const char* device, const char* type, const char* op,
                                          const void* in, uint64_t n, void* out);

/// Reduces each row of a matrix, and waits for the results. All its memory is the host's.
/// @param in      rows of `columns` elements, which may lie anywhere
/// @param stride  elements from one row's begin to the next one's; what is between rows is not read
/// @param out     room for `rows` results, not among the elements
TENFOLD_API tenfold_status tenfold_reduce_rows(const char* device, const char* type, const char* op,
                                               const void* in, uint64_t rows, uint64_t columns,
                                               uint64_t stride, void* out);

/// Reduces each column of a matrix, which lies as for `tenfold_reduce_rows`.
/// @param out room for `columns` results, not among the elements
TENFOLD_API tenfold_status tenfold_reduce_columns(const char* device, const char* type,
                                                  const char* op, const void* in, uint64_t rows,
                                                  uint64_t columns, uint64_t stride, void* out);

/// Reduces segments of any lengths, of the host's memory, and waits for the results. Segment s has
/// the elements from `in[offsets[s]]` up to `in[offsets[s + 1]]`, which is not among them.
/// @param offsets `segments + 1` of them, none less than the one before
/// @param out     room for `segments` results, neither among the elements nor the offsets
TENFOLD_API tenfold_status tenfold_reduce_segments(const char* device, const char* type,
                                                   const char* op, const void* in,
                                                   const uint64_t* offsets, uint64_t segments,
                                                   void* out);

/// Where the least of `n` elements of the host's memory stands: the first, if several are equal. A
/// NaN is less than all others, and minus zero less than zero.
/// @param index of the element; UINT64_MAX if there are none
TENFOLD_API tenfold_status tenfold_arg_minimum(const char* device, const char* type, const void* in,
                                               uint64_t n, uint64_t* index);

/// The same of the greatest. A NaN is greater than all others, too, and zero than minus zero.
TENFOLD_API tenfold_status tenfold_arg_maximum(const char* device, const char* type, const void* in,
                                               uint64_t n, uint64_t* index);

/// Adds the products `a[i] * b[i]` of `n` elements of the host's memory each, and waits for the
/// sum.
/// @param out room for an `f64`; of integers for an `i64` or `u64`, which wraps around
TENFOLD_API tenfold_status tenfold_dot(const char* device, const char* type, const void* a,
                                       const void* b, uint64_t n, void* out);

/// Reduces again and again, in streams. One thread and one stream at a time: it has scratch memory.
typedef struct tenfold_reducer tenfold_reducer;

/// Makes a reducer, with all the memory that it will need.
/// @param made  is NULL afterwards where that failed
/// @param max_n the most elements that a call may bring
TENFOLD_API tenfold_status tenfold_create(tenfold_reducer** made, const char* device,
                                          const char* type, const char* op, uint64_t max_n);

/// Enqueues a reduction, and waits for nothing. A graph can record it.
/// @param in     `n` elements of the device's memory, aligned to the type
/// @param out    room for a result, in memory that the device can write, not among those elements
/// @param stream a cudaStream_t or hipStream_t of the device, NULL for its default stream. On the
///               executor, which is done on return and whose memory is the host's, it means nothing
TENFOLD_API tenfold_status tenfold_enqueue(tenfold_reducer* reducer, const void* in, uint64_t n,
                                           void* out, void* stream);

/// Waits for the device, if work is in flight. NULL is nothing to destroy.
TENFOLD_API void tenfold_destroy(tenfold_reducer* reducer);

#if defined(__cplusplus)
}
#endif

#endif
