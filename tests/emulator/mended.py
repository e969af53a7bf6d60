"""What the emulator lacks for the kernels of this project, mended from outside. A function for each gap: each is
a few lines that belong into the emulator itself, in the file that its comment names.

TENFOLD_AMD_EMULATOR names a checkout of tinygrad, see docs/amd.md. Import this only where there is one."""

import os
import struct
import sys

sys.path.insert(0, os.environ["TENFOLD_AMD_EMULATOR"])
from test.mockgpu.amd import emu  # noqa: E402
from tinygrad.dtype import dtypes  # noqa: E402
from tinygrad.renderer import amd as formats  # noqa: E402
from tinygrad.uop.ops import UOp  # noqa: E402

RDNA3, RDNA4, CDNA = emu.ir3, emu.ir4, emu.irc
handlers = emu._INST_HANDLERS  # by the kind of an instruction, what compiles it


def mend():
    for gap in (cache_instructions, old_values_of_atomics, program_counter, carries_of_parts_of_words,
                literals_of_permutations, lanes_of_long_instructions, swizzles, loads_of_inactive_lanes,
                instructions_of_gfx90a):
        gap()


def field(inst, ctx, name):
    """What an instruction's bits say, as a value that the compiled code reads: instructions that differ in it
    alone share their code."""
    return ctx.inst_field(getattr(type(inst), name))


def cache_instructions():
    """test/mockgpu/amd/emu.py: instructions that write back or invalidate caches are unknown. There are no
    caches, and so nothing to do."""
    names = {"BUFFER_GL0_INV", "BUFFER_GL1_INV", "BUFFER_INV", "BUFFER_WBL2", "GLOBAL_INV", "GLOBAL_WB",
             "GLOBAL_WBINV"}

    def refuse(inst, ctx):
        raise RuntimeError(f"the emulator does not know {inst.op.name}")

    for kind in (RDNA3.MUBUF, CDNA.MUBUF, RDNA4.VGLOBAL):
        def handle(inst, ctx, otherwise=handlers.get(kind, refuse)):
            return UOp.sink(*ctx.inc_pc()) if inst.op.name in names else otherwise(inst, ctx)
        handlers[kind] = handle
    # tinygrad/renderer/amd/__init__.py: nor are buffer instructions of RDNA3 decoded.
    formats._load_formats()["rdna3"].append(RDNA3.MUBUF)


def old_values_of_atomics():
    """test/mockgpu/amd/emu.py: whether an atomic returns what was there is a bit that is called glc on RDNA3, of
    which the emulator knows; it is sc0 on CDNA, and the lowest of th on RDNA4."""
    attribute = emu._iattr

    def read(inst, name, default=0):
        if name != "glc":
            return attribute(inst, name, default)
        return attribute(inst, "glc") or attribute(inst, "sc0") or attribute(inst, "th") & 1

    emu._iattr = read


def program_counter():
    """test/mockgpu/amd/emu.py: s_getpc_b64 is not there. It gives the address of the next instruction."""
    for kind in (RDNA3.SOP1, RDNA4.SOP1, CDNA.SOP1):
        def handle(inst, ctx, otherwise=handlers[kind]):
            if inst.op.name != "S_GETPC_B64":
                return otherwise(inst, ctx)
            low, high = emu._split64(ctx.rpc() + UOp.const(4, dtypes.uint64))
            target = field(inst, ctx, "sdst")
            return UOp.sink(ctx.wsgpr_dyn(target, low), ctx.wsgpr_dyn(target + emu._c(1), high), *ctx.inc_pc())
        handlers[kind] = handle


def carries_of_parts_of_words():
    """test/mockgpu/amd/emu.py, _compile_sdwa: an addition that reads a part of a word computes the carry from
    the register that it has just overwritten."""
    otherwise = handlers[CDNA.VOP2_SDWA]
    whole_word = 6

    def handle(inst, ctx):
        if "_CO_" not in inst.op.name or inst.dst_sel != whole_word or inst.s0 or inst.s1:
            return otherwise(inst, ctx)
        lane = ctx.range()
        operands = {f"S{i}": emu._sdwa_select(ctx.rvgpr_dyn(field(inst, ctx, f"vsrc{i}"), lane),
                                              field(inst, ctx, f"src{i}_sel"), field(inst, ctx, f"src{i}_sext"))
                    for i in (0, 1)}
        return ctx.compile_vop_pcode(inst.op, operands, lane, field(inst, ctx, "vdst"), ctx.rexec())

    handlers[CDNA.VOP2_SDWA] = handle


def literals_of_permutations():
    """test/mockgpu/amd/emu.py, compile_lane_pcode: v_permlanex16 does not read a choice of lanes that stands
    in the instruction as a literal. Only folds by DPP have it."""
    compile_lanes, operand = emu._Ctx.compile_lane_pcode, emu._Ctx.rsrc_dyn

    def compile_lane_pcode(self, op, inst):
        literal = self.optional_field(inst, "literal")
        emu._Ctx.rsrc_dyn = lambda ctx, offset, lane: operand(ctx, offset, lane, literal=literal)
        try:
            return compile_lanes(self, op, inst)
        finally:
            emu._Ctx.rsrc_dyn = operand

    emu._Ctx.compile_lane_pcode = compile_lane_pcode


def lanes_of_long_instructions():
    """test/mockgpu/amd/emu.py: DPP, by which an operand comes from another lane, is unknown in instructions of
    eight bytes. They are those without it, but for the first operand. Only folds by DPP have them."""
    operand = emu._Ctx.rsrc_dyn
    for module in (RDNA3, RDNA4):
        for base, kind in ((module.VOP3, module.VOP3_DPP16), (module.VOP3SD, module.VOP3SD_DPP16)):
            def handle(inst, ctx, otherwise=handlers[base], kind=kind):
                first = ctx.inst_field(kind.src0)

                def read(self, offset, lane, *more):
                    if offset is first:
                        return emu._load_dpp16_src0(self, inst, lane, emu._c(0))
                    return operand(self, offset, lane, *more)

                emu._Ctx.rsrc_dyn = read
                try:
                    return otherwise(inst, ctx)
                finally:
                    emu._Ctx.rsrc_dyn = operand
            handlers[kind] = handle


def swizzles():
    """test/mockgpu/amd/emu.py: ds_swizzle_b32 is unknown on CDNA. Of its two modes this is the one in which
    each half of a wave takes words from lanes whose numbers are and'ed, or'ed and xor'ed. Only folds by DPP have
    it."""
    otherwise = handlers[CDNA.DS]

    def handle(inst, ctx):
        control = inst.offset1 << 8 | inst.offset0
        if inst.op.name != "DS_SWIZZLE_B32" or control >> 15:
            return otherwise(inst, ctx)
        mask, source, target = ctx.rexec(), field(inst, ctx, "addr"), field(inst, ctx, "vdst")
        moves = []
        for lane in range(ctx.wave_size):
            from_lane = lane & 32 | ((lane & control | control >> 5) ^ control >> 10) & 31
            other = emu._c(from_lane, dtypes.int)
            word = emu._lane_active(mask, other).where(ctx.rvgpr_dyn(source, other), emu._c(0))
            moves.append(ctx.wvgpr_dyn(target, emu._c(lane, dtypes.int), word, mask))
        return UOp.sink(*moves, *ctx.inc_pc())

    handlers[CDNA.DS] = handle


def loads_of_inactive_lanes():
    """test/mockgpu/amd/pcode.py: lanes that are switched off load from shared memory all the same, from
    wherever their registers point."""
    parse = emu.parse_pcode

    def parse_pcode(pcode, sources):
        if "_lds" in sources:
            lane = sources["laneId"]
            sources["_active"] = emu._lane_active(emu._Ctx(0, lane.vmax + 1).rexec(), lane)
        return parse(pcode, sources)

    emu.parse_pcode = parse_pcode


def instructions_of_gfx90a():
    """tinygrad/renderer/amd/__init__.py: CDNA means gfx942. gfx90a has buffer_wbinvl1_vol where that has
    buffer_inv."""
    decode = emu.decode_inst
    wbinvl1_vol, inv = 0xE0FC0000, 0xE0A40000

    def decode_inst(data, arch):
        if arch == "cdna" and int.from_bytes(data[:4], "little") == wbinvl1_vol:
            data = struct.pack("<I", inv) + data[4:]
        return decode(data, arch)

    emu.decode_inst = decode_inst
