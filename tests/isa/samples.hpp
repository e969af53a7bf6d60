/// @file
/// Machine code as the compilers write it, cut down to what the readers look for.
#pragma once

#include <string_view>

namespace tenfold::isa_test {

/// A loop over a load, a function inlined into it whose code lies in two pieces, and a function
/// that is no kernel.
inline constexpr std::string_view amdgcn = R"(	.text
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.type	helper,@function
helper:
.Lfunc_begin0:
	.file	1 "/project" "kernels/08_warps_first.hpp"
	.loc	1 3 0
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	helper, .Lfunc_end0-helper
	.section	.text.kernel_a,"axG",@progbits,kernel_a,comdat
	.type	kernel_a,@function
kernel_a: ; @kernel_a
.Lfunc_begin1:
; %bb.0:
	.loc	1 22 48 prologue_end
	s_load_dwordx4 s[4:7], s[0:1], 0x0 ; a comment
.LBB1_1:                                ; =>This Inner Loop Header: Depth=1
	.loc	1 24 62
	global_load_dwordx4 v[2:5], v[6:7], off
	global_load_dword v8, v[6:7], off
.Ltmp0:
	.file	2 "/project" "common/operators.hpp"
	.loc	2 81 16
	v_add_f32_e32 v1, v6, v1
.Ltmp1:
	.loc	1 0 16
	s_waitcnt lgkmcnt(0)
.Ltmp2:
	.loc	2 81 16
	v_add_f32_e32 v1, v2, v1
.Ltmp3:
	.loc	1 31 3
	s_cbranch_vccnz .LBB1_1
	s_barrier
	ds_bpermute_b32 v3, v3, v1
	s_cbranch_execz .LBB1_3
	ds_write_b32 v6, v4
.LBB1_3:
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel kernel_a
		.amdhsa_next_free_vgpr 9
	.end_amdhsa_kernel
	.section	.text.kernel_a,"axG",@progbits,kernel_a,comdat
.Lfunc_end1:
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; NumVgprs: 9
; Occupancy: 8
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .name:           in
        .size:           8
    .group_segment_fixed_size: 16
    .name:           kernel_a
    .private_segment_fixed_size: 12
    .sgpr_count:     14
    .sgpr_spill_count: 2
    .symbol:         kernel_a.kd
    .vgpr_count:     9
    .vgpr_spill_count: 3
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
...
	.end_amdgpu_metadata
	.section	.debug_info,"",@progbits
	.byte	1                               ; Abbrev [1] 0xb:0x577 DW_TAG_compile_unit
	.quad	.Lfunc_begin1                   ; DW_AT_low_pc
	.byte	7                               ; Abbrev [7] 0x123:0x2d5 DW_TAG_inlined_subroutine
	.long	108                             ; DW_AT_abstract_origin
	.long	.Ldebug_ranges0                 ; DW_AT_ranges
	.byte	1                               ; DW_AT_call_file
	.byte	28                              ; DW_AT_call_line
	.byte	3                               ; DW_AT_call_column
	.byte	6                               ; Abbrev [6] 0x183:0x14 DW_TAG_inlined_subroutine
	.long	60                              ; DW_AT_abstract_origin
	.quad	.Ltmp2                          ; DW_AT_low_pc
	.long	.Ltmp3-.Ltmp2                   ; DW_AT_high_pc
	.byte	2                               ; DW_AT_call_file
	.short	299                             ; DW_AT_call_line
	.byte	0                               ; End Of Children Mark
	.section	.debug_ranges,"",@progbits
.Ldebug_ranges0:
	.quad	-1
	.quad	.Lfunc_begin1
	.quad	.Ltmp0-.Lfunc_begin1
	.quad	.Ltmp1-.Lfunc_begin1
	.quad	.Ltmp2-.Lfunc_begin1
	.quad	.Ltmp3-.Lfunc_begin1
	.quad	0
	.quad	0
)";

inline constexpr std::string_view ptx = R"(//
.version 9.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .b8 table[2] = {1, 2};
	// .globl	kernel_a
.visible .entry kernel_a(
	.param .u64 kernel_a_param_0,
	.param .u64 kernel_a_param_1
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<15>;
	.loc	1 19 0
	.shared .align 16 .b8 shared[32];

	ld.param.u64 	%rd5, [kernel_a_param_0];
	.loc	1 26 3
$L__BB0_2:
	.loc	2 81 7, function_name $L__info_string1, inlined_at 1 26 3
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd2+1024];
	@%p1 bra 	$L__BB0_2;

	.loc	1 0 5
	ld.global.f32 	%f27, [%rd2];
	.loc	1 30 3
	// begin inline asm
	{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2; @done bra FINISHED; bra WAIT; FINISHED: }
	// end inline asm
	bar.sync 	0;
	bar.warp.sync 	-1;
	barrier.sync 	1;
	.loc	1 31 3
	@!%p8 bra 	$L__BB0_4;
	shfl.sync.down.b32 	%r10|%p3, %r5, %r8, %r7, %r9;
$L__BB0_4:
	ret;

}
	// .globl	kernel_b
.entry kernel_b()
{
	ret;
}
	.file	1 "/project/kernels/08_warps_first.hpp"
	.file	2 "/project/common/operators.hpp"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,0
	}
)";

inline constexpr std::string_view ptxas_report =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'kernel_b' for 'sm_90'\n"
    "ptxas info    : Function properties for kernel_b\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 4 registers, used 0 barriers\n"
    "ptxas info    : Compiling entry function 'kernel_a' for 'sm_90'\n"
    "ptxas info    : Function properties for kernel_a\n"
    "    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 14 registers, used 1 barriers, 32 bytes smem, 8 bytes cmem[2]\n";

/// As NVIDIA documents what `nvdisasm -c -gi` prints.
inline constexpr std::string_view sass =
    R"(	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"
	.elftype	@"ET_EXEC"

//--------------------- .text.kernel_a            --------------------------
	.section	.text.kernel_a,"ax",@progbits
	.align	128
        .global         kernel_a
        .type           kernel_a,@function
kernel_a:
.text.kernel_a:
	//## File "/project/kernels/08_warps_first.hpp", line 19
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/project/common/operators.hpp", line 81 inlined at "/project/kernels/08_warps_first.hpp", line 26
	//## File "/project/kernels/08_warps_first.hpp", line 26
.L_x_0:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   FADD R3, R4, R5 ;
        /*0030*/               @P0 BRA `(.L_x_0) ;
	//## File "/project/kernels/08_warps_first.hpp", line 31
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   WARPSYNC.ALL ;
        /*0060*/              @!P1 LDG.E R6, desc[UR4][R2.64+0x400] ;
        /*0070*/                   EXIT ;
.L_x_1:
        /*0080*/                   BRA `(.L_x_1);
        /*0090*/                   NOP;
.L_x_2:


//--------------------- .nv.shared.kernel_a       --------------------------
	.section	.nv.shared.kernel_a,"aw",@nobits
	.align	16
)";

}  // namespace tenfold::isa_test
