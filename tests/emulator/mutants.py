"""The mutants of tests/emulator/plant: the source of the machine code with one fault each.

`old`, which the file holds once, becomes `new`. `stage` shows the fault, on the architectures that are named. The
emulator takes `options` besides: other types, or folds without DPP.
"""

import collections

KINDS = ["barrier", "fence", "wait", "lane", "width", "alignment"]
BOTH = ["gfx942", "gfx1200"]
Mutant = collections.namedtuple("Mutant", "name kind what stage file old new architectures options",
                                defaults=(["gfx942"], []))

MUTANTS = [
    # ---- a barrier is missing -------------------------------------------------------------------
    Mutant("no-barrier-between-steps", "barrier", "no barrier between the steps of the tree", 2,
           "kernels/02_no_divergence.hpp", "    __syncthreads();\n  }", "  }"),
    Mutant("no-barrier-after-load", "barrier", "no barrier between the loads and the tree", 4,
           "kernels/04_first_op_on_load.hpp", "gid + blockDim.x));\n  __syncthreads();\n", "gid + blockDim.x));\n"),
    Mutant("no-warp-barrier", "barrier", "no barrier between the steps of the last warp", 5,
           "kernels/05_warp_sync.hpp", "      gpu::sync_warp();\n", ""),
    Mutant("empty-warp-barrier", "barrier", "the barrier of a warp orders nothing", 6, "common/gpu/hip.hpp",
           '  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");\n  __builtin_amdgcn_wave_barrier();\n'
           '  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");\n', ""),
    Mutant("no-barrier-before-last-warp", "barrier", "no barrier between all warps and the first", 8,
           "kernels/08_warps_first.hpp", "shared[warp] = result;\n  __syncthreads();\n", "shared[warp] = result;\n"),
    Mutant("no-barrier-after-ticket", "barrier", "no barrier between the ticket and the block's other threads", 11,
           "kernels/beyond/11_single_pass.hpp", "  __syncthreads();\n  if (!is_last)", "  if (!is_last)"),
    Mutant("one-array-for-all-tiles", "barrier", "all tiles go through one array, with no barrier more", 16,
           "kernels/beyond/16_ordered.hpp", "turn % 2 * Warps", "turn % 1 * Warps"),
    # ---- a fence --------------------------------------------------------------------------------
    Mutant("no-fence-before-ticket", "fence", "no fence between the partial and the ticket", 11,
           "kernels/beyond/11_single_pass.hpp", "= result;\n    __threadfence();\n", "= result;\n", BOTH),
    Mutant("no-fence-after-ticket", "fence", "no fence between the ticket and the loads of partials", 11,
           "kernels/beyond/11_single_pass.hpp", "return;\n  __threadfence();\n", "return;\n", BOTH),
    Mutant("block-fence-before-ticket", "fence", "the fence before the ticket is for the block alone", 13,
           "kernels/beyond/13_dependent_launch.hpp", "= result;\n    __threadfence",
           "= result;\n    __threadfence_block", BOTH),
    Mutant("block-fence-after-ticket", "fence", "the fence after the ticket is for the block alone", 13,
           "kernels/beyond/13_dependent_launch.hpp", "return;\n  __threadfence",
           "return;\n  __threadfence_block", BOTH),
    Mutant("ticket-for-the-block", "fence", "the ticket is atomic for the block alone", 11, "common/gpu/hip.hpp",
           '__ATOMIC_RELAXED, "agent")', '__ATOMIC_RELAXED, "workgroup")', BOTH),
    # ---- a wait ---------------------------------------------------------------------------------
    Mutant("partial-after-fence", "wait", "the ticket does not wait for the partial, which is stored after the fence",
           11, "kernels/beyond/11_single_pass.hpp", "    partials[blockIdx.x] = result;\n    __threadfence();\n",
           "    __threadfence();\n    partials[blockIdx.x] = result;\n", BOTH),
    Mutant("number-before-draw", "wait", "a block reads the ticket before it draws one", 13,
           "kernels/beyond/13_dependent_launch.hpp", "is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;",
           "is_last = *ticket == gridDim.x - 1;\n    atomicInc(ticket, gridDim.x - 1);", BOTH),
    Mutant("no-wait-for-launch", "wait", "stage 13 does not wait for the launch before", 13,
           "kernels/beyond/13_dependent_launch.hpp", "  gpu::await_previous_launch();\n", "", ["sm_90"]),
    Mutant("no-wait-for-pass", "wait", "stage 14 does not wait for the pass before", 14,
           "kernels/beyond/14_dependent_passes.hpp", "  gpu::await_previous_launch();\n", "", ["sm_90"]),
    # ---- another lane ---------------------------------------------------------------------------
    Mutant("distance-in-bytes", "lane", "a shuffle counts its distance in bytes", 7, "common/gpu/hip_lanes.hpp",
           "4 * (lane + delta)", "4 * lane + delta", BOTH, ["--no-dpp"]),
    Mutant("half-a-lane-number", "lane", "lanes from 32 on take themselves for lane 32", 16,
           "common/gpu/hip_lanes.hpp", "mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))", "mbcnt_lo(~0u, 0u)",
           ["gfx942"], ["--no-dpp"]),
    Mutant("partial-of-lane-1", "lane", "lane 1 stores the partial of its warp", 8, "kernels/08_warps_first.hpp",
           "if (lane == 0) shared", "if (lane == 1) shared"),
    Mutant("one-lane-too-many", "lane", "the first warp reads a partial more than there are", 10,
           "kernels/10_two_pass.hpp", "lane < Warps ?", "lane <= Warps ?"),
    Mutant("far-before-near", "lane", "stage 16 folds lanes that lie far apart first", 16,
           "kernels/beyond/16_ordered.hpp", "static_for<1, less_than<WarpSize>, multiply<2>>",
           "static_for<WarpSize / 2, not_equal<0>, divide<2>>"),
    Mutant("row-the-other-way", "lane", "DPP takes the word of a lower lane", 8, "common/gpu/hip_lanes.hpp",
           "row_shl = 0x100", "row_shl = 0x110", BOTH),
    Mutant("same-row", "lane", "DPP swaps lanes of the same row", 8, "common/gpu/hip_lanes.hpp",
           "lane_xor_16 = 0x10 << 10", "lane_xor_16 = 0x08 << 10", ["gfx942"]),
    Mutant("row-of-lanes-that-left", "lane", "nothing keeps the swap of rows before the branch", 8,
           "common/gpu/hip_lanes.hpp", '  asm volatile("" : "+v"(swapped));\n', "", ["gfx1200"]),
    # ---- another width --------------------------------------------------------------------------
    Mutant("half-a-warp", "width", "the last warp is taken to have 32 lanes", 7, "kernels/07_warp_shuffle.hpp",
           "static_for<WarpSize / 2, not_equal<0>", "static_for<16, not_equal<0>"),
    Mutant("half-a-load", "width", "loads are half as wide", 10, "kernels/10_two_pass.hpp",
           "Width = gpu::vector_width<In, Items>", "Width = (gpu::vector_width<In, Items> + 1) / 2"),
    Mutant("half-a-double", "width", "a shuffle moves the lower word of a double twice", 8, "common/gpu/transfer.hpp",
           "shuffle(all.pair[i].y)", "shuffle(all.pair[i].x)", ["gfx942"], ["--types", "f64"]),
    Mutant("two-bytes-of-four", "width", "a sum of four signed bytes shifts two of them", 15, "common/gpu/hip.hpp",
           "word ^ 0x80808080u", "word ^ 0x8080u", ["gfx942"], ["--types", "i8"]),
    # ---- a vector at an address that is not aligned -----------------------------------------------
    Mutant("any-address", "alignment", "vectors are loaded from any address", 9, "kernels/09_items_per_thread.hpp",
           "gpu::is_vector_aligned<Width>(in) && ", ""),
    Mutant("half-aligned", "alignment", "half the alignment of a vector is enough", 10, "kernels/10_two_pass.hpp",
           "is_vector_aligned<Width>(in)", "is_vector_aligned<(Width + 1) / 2>(in)"),
    Mutant("element-aligned", "alignment", "addresses are tested for the alignment of an element", 14,
           "common/gpu.hpp", "% (Width * sizeof(In)) == 0", "% sizeof(In) == 0"),
]
