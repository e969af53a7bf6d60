/// @file
/// The machine code of kernels, as the GPU compilers that are here make it. No GPU is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/text/source_place.hpp"

namespace tenfold::isa {

enum class vendor { amd, nvidia };

/// A GPU architecture by the name that its vendor's compiler knows, such as `gfx942` or `sm_90`.
struct architecture {
  std::string name;
  isa::vendor vendor;
  int warp_size;
};

/// @throws input_error for what is neither `gfx...` nor `sm_...`
[[nodiscard]] architecture parse_architecture(std::string_view name);

/// A line of machine code: an instruction or, where `is_label`, the target of a branch.
struct code_line {
  std::string text;  ///< without comments; a label without its colon
  bool is_label;
  /// Where it comes from, the innermost function that was inlined first. Empty where the compiler
  /// does not say.
  std::vector<source_place> places;
};

/// What a kernel takes of the hardware.
struct resources {
  int vector_registers;                 ///< a thread
  std::optional<int> scalar_registers;  ///< a warp; AMD has them
  int shared_bytes;                     ///< a block, without what a launch adds
  int scratch_bytes;                    ///< a thread: memory for what found no register, or a stack
  int spilled_registers;
  std::optional<int> warps_per_simd;  ///< that the registers allow; where the compiler tells
};

struct kernel_code {
  std::string symbol;  ///< mangled
  isa::resources resources;
  std::vector<code_line> code;
};

/// Whether there is a compiler for the architecture's vendor; why not, in one line, where there is
/// none.
[[nodiscard]] std::string compiler_absence(const architecture& a);

/// The command of that compiler with the options it always takes. In this order:
/// TENFOLD_HIP_COMPILER or TENFOLD_CUDA_COMPILER of the environment, what this build compiles its
/// own kernels with, hipcc or nvcc where they usually are.
/// @throws input_error where there is none
[[nodiscard]] std::vector<std::string> needed_compiler(const architecture& a);

/// The folder with the kernels' headers.
/// @throws input_error where there is none any more
[[nodiscard]] std::string source_folder();

/// The version of that compiler in one line, as it gives it itself.
[[nodiscard]] std::string compiler_version(const architecture& a);

/// All kernels of a unit in the order in which the compiler puts them.
/// @param unit the text of a CUDA or HIP source file, which may include the project's headers
/// @param flags beyond C++20, -O3 and what the build uses
/// @throws input_error where there is no compiler, or where it does not know the architecture or
///         refuses the unit; with the first of its errors
[[nodiscard]] std::vector<kernel_code> compile(std::string_view unit, const architecture& a,
                                               const std::vector<std::string>& flags = {});

/// Why NVIDIA's PTX cannot be followed further, in one line; empty where nvdisasm is there.
[[nodiscard]] std::string disassembler_absence();

/// The same as `compile` for an architecture of NVIDIA's, in the hardware's own instructions (SASS)
/// instead of PTX.
/// @throws input_error as `compile` does, and where there is no disassembler
[[nodiscard]] std::vector<kernel_code> compile_to_sass(std::string_view unit, const architecture& a,
                                                       const std::vector<std::string>& flags = {});

/// Block barriers: `s_barrier`, `bar.sync`, and what newer architectures say instead, counted once
/// each.
[[nodiscard]] int count_barriers(const kernel_code& kernel);

/// How many loads of that many bytes a lane there are from global memory.
[[nodiscard]] int count_global_loads(const kernel_code& kernel, int bytes);

/// Loops, by the paths that a thread can take, wherever the compiler puts a block.
[[nodiscard]] int count_loops(const kernel_code& kernel);

/// Instructions whose text begins with a prefix, such as `ds_bpermute` or `shfl`; all with an empty
/// one.
[[nodiscard]] int count_instructions(const kernel_code& kernel, std::string_view prefix = "");

/// What an instruction is there for.
enum class instruction_kind {
  global_load,
  global_store,  ///< atomics among them
  shared_memory,
  shuffle,
  scratch,
  barrier,
  wait,  ///< for memory or other instructions
  branch,
  scalar,  ///< once a warp, in units of its own
  arithmetic
};

inline constexpr int instruction_kinds = 10;

[[nodiscard]] std::string_view name_of(instruction_kind kind);

/// What is none of the others counts as arithmetic: moves, comparisons, conversions.
[[nodiscard]] instruction_kind kind_of(std::string_view instruction);

[[nodiscard]] int count_kind(const kernel_code& kernel, instruction_kind kind);

}  // namespace tenfold::isa
