/// @file
/// Kernels whose every request is known, compiled to be observed.
#pragma once

#include <cstdint>

namespace tenfold::observed {

/// Every second lane reads in each of 8 turns, the others in the next one: 8 requests a warp.
void launch_alternating(const float* in, float* out, unsigned warp_size);
/// Lane i reads i + 1 times: as many requests a warp as it has lanes.
void launch_staircase(const float* in, float* out, unsigned warp_size);
/// Both sides of a branch call the same function, which is not inlined and reads: two requests.
void launch_called_from_both_sides(const float* in, float* out, unsigned warp_size);
/// Lanes 0 to 7 return at once; the others read once and write once.
void launch_early_return(const float* in, float* out, unsigned warp_size);
/// One load of 16 bytes a lane.
void launch_vectors(const float* in, float* out, unsigned warp_size);
/// Lane i reads shared[stride * i], for elements of T.
void launch_strided_floats(unsigned stride, unsigned warp_size);
void launch_strided_doubles(unsigned stride, unsigned warp_size);
/// Every lane reads shared[0].
void launch_broadcast(unsigned warp_size);
/// Each half of a warp folds by itself, with a mask of its own.
void launch_half_masks(unsigned warp_size);
/// Every thread reads and writes so often.
void launch_busy(std::uint64_t turns);
/// Four blocks, each of which waits for the one before it.
void launch_chain();
/// Blocks add 1 each; the last that draws a ticket, of a variable of the program, folds them.
void launch_last_block(float* partials, float* out, unsigned blocks);
/// The first thread of every block increments a variable of the program, plainly.
void launch_plain_count(unsigned blocks);
/// What the blocks of a grid do where all should meet.
enum class meeting { of_grid, left_out, of_block, of_all_but_one };
/// Twice, each block leaves a number for the next one and meets the others before that one takes
/// it, with what it kept in shared memory.
void launch_neighbours(float* left, float* out, unsigned blocks, unsigned warp_size, meeting how);
/// Each lane copies two floats at once, as a struct of both.
void launch_pairs(const float* in, float* out);

/// One load of a float4 a lane.
void launch_float4s(const float* in, float* out, unsigned warp_size);
/// Each lane reads a struct of 128 bytes, and copies 32 bytes by memcpy.
void launch_structs(const float* in, float* out, unsigned warp_size);
void launch_copies(const float* in, float* out, unsigned warp_size);
/// The kernels of tests/words, which say themselves what is wrong.
/// @return the first line of one that is; 0: none
int launch_words(unsigned warp_size);

inline constexpr unsigned lanes = 64;  ///< threads of the one block of each

}  // namespace tenfold::observed
