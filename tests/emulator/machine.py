"""A GPU of AMD's on the CPU: memory that notices who goes beyond it, and blocks whose waves take turns.

A wave runs one instruction at a time on tinygrad's emulator, for a turn of random length; then it is another's
turn, of the same block or of another one that is resident. Memory is poisoned, and so are registers and shared
memory when a block starts. There are no caches and no delays: what one wave writes, all others see at once."""

import ctypes
import mmap
import re
import struct

from mended import emu, mend
from scripts.common import Failure
from tinygrad.device import Buffer, BufferSpec
from tinygrad.dtype import dtypes

PAGE = mmap.PAGESIZE
POISON = 0xFF  # NaN in every float, and no address
RESIDENT = 3  # blocks at once
TURNS = (1, 7, 50, 1000)  # instructions
LIMIT = 20_000_000  # instructions of a launch, which none of the stages comes near
SLACK = 65536  # bytes behind the shared memory, which must stay as they are
SCALAR_REGISTERS, VECTOR_REGISTERS = 100, 256  # that a kernel may use
libc = ctypes.CDLL(None, use_errno=True)
mend()


class Wrong(Exception):
    """What a kernel does is wrong."""


def emulated(architecture):
    """How the emulator calls an architecture's instructions; None where it does not know them."""
    for begin, name in (("gfx90a", "cdna"), ("gfx94", "cdna"), ("gfx95", "cdna"), ("gfx11", "rdna3"),
                        ("gfx12", "rdna4")):
        if architecture.startswith(begin) and architecture != "gfx1250":
            return name
    return None


class Memory:
    """Some bytes that end, but for what their alignment to 16 leaves over, at a page that nobody may touch. The
    rest of their pages is poisoned. `shift` takes them out of the alignment."""

    def __init__(self, content, shift=0):
        pages = -(-(len(content) + 32) // PAGE)
        self.pages = mmap.mmap(-1, (pages + 1) * PAGE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        self.room, self.size = pages * PAGE, len(content)
        self.address = (self.base + self.room - len(content) - shift) // 16 * 16 + shift
        ctypes.memset(self.base, POISON, self.room)
        ctypes.memmove(self.address, bytes(content), len(content))
        if libc.mprotect(ctypes.c_void_p(self.base + self.room), PAGE, 0) != 0:
            raise Failure("cannot make a page of memory inaccessible")

    def content(self):
        return ctypes.string_at(self.address, self.size)

    def is_intact_around(self):
        end = self.address + self.size
        around = ctypes.string_at(self.base, self.address - self.base)
        around += ctypes.string_at(end, self.base + self.room - end)
        return set(around) <= {POISON}


class Block:
    """Its waves, those that run and those that wait at a barrier, and its shared memory. A wave is the
    emulator's state of it, and the buffers that each compiled instruction takes."""

    def __init__(self, machine, kernel, index, launch):
        self.shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes
        self.shared = (ctypes.c_uint8 * (self.shared_bytes + SLACK))()
        ctypes.memset(self.shared, POISON, ctypes.sizeof(self.shared))
        self.running, self.at_barrier, self.own = [], [], []
        for first in range(0, launch.threads, machine.warp):
            self.running.append(self._wave(machine, kernel, index, first, launch))

    def _wave(self, machine, kernel, index, first, launch):
        state = emu._init_wave(machine.base + kernel.descriptor + kernel.entry, first, launch.threads, launch.threads,
                               1, 1, launch.arguments.address, kernel.resources, kernel.own_bytes, machine.dialect,
                               index, 0, 0, launch.user_registers, machine.warp)
        # All but the thread's number, the user's registers and the block's number, of up to three parts and
        # the wave's own memory, hold anything.
        ctypes.memset(state.vgpr_buf._buf.va_addr + 4 * machine.warp, POISON,
                      4 * machine.warp * (VECTOR_REGISTERS - 1))
        known = len(launch.user_registers) + 4
        ctypes.memset(state.sgpr_buf._buf.va_addr + 4 * known, POISON, 4 * (SCALAR_REGISTERS - known))
        own = (ctypes.c_uint8 * max(1, kernel.own_bytes * machine.warp))()
        ctypes.memset(own, POISON, ctypes.sizeof(own))
        self.own.append(own)
        addresses = (state.sgpr_buf._buf.va_addr, state.vgpr_buf._buf.va_addr, machine.memory._buf.va_addr,
                     ctypes.addressof(self.shared), ctypes.addressof(own), state.accvgpr_buf._buf.va_addr)
        return state, [ctypes.c_uint64(address) for address in addresses]

    def is_intact_behind_shared(self):
        behind = ctypes.string_at(ctypes.addressof(self.shared) + self.shared_bytes, SLACK)
        return behind == bytes([POISON]) * SLACK


class Launch:
    """What is the same for all blocks of a launch: the memory with the arguments, and the registers that say
    where that is."""

    def __init__(self, kernel, blocks, threads, values, dynamic_shared_bytes):
        self.blocks, self.threads, self.dynamic_shared_bytes = blocks, threads, dynamic_shared_bytes
        hidden = {"hidden_block_count_x": blocks, "hidden_block_count_y": 1, "hidden_block_count_z": 1,
                  "hidden_group_size_x": threads, "hidden_group_size_y": 1, "hidden_group_size_z": 1,
                  "hidden_grid_dims": 1, "hidden_dynamic_lds_size": dynamic_shared_bytes}
        explicit = iter(values)
        content = bytearray(kernel.argument_bytes)
        for kind, offset, size in kernel.arguments:
            value = hidden.get(kind, 0) if kind.startswith("hidden_") else next(explicit)
            content[offset:offset + size] = value.to_bytes(size, "little")
        self.arguments = Memory(content)
        # What the runtime hands to the hardware. Kernels of code-object version 4 read the block's size in it.
        shared_bytes = kernel.shared_bytes + dynamic_shared_bytes
        self.packet = Memory(struct.pack("<HHHHHHIIIIIQQQQ", 2, 1, threads, 1, 1, 0, blocks * threads, 1, 1,
                                         kernel.own_bytes, shared_bytes, 0, self.arguments.address, 0, 0))
        # By the bits of the kernel's descriptor: a buffer for its own memory, the packet, a queue, the arguments,
        # the packet's number, where its own memory begins, and that memory's size.
        self.user_registers = []
        for bit, registers in enumerate((4, 2, 2, 2, 2, 2, 1)):
            if kernel.user_registers >> bit & 1:
                known = {1: self.packet, 3: self.arguments}.get(bit)
                self.user_registers += words_of(known.address) if known else [0] * registers
        count = kernel.resources >> 1 & 31
        self.user_registers += [0] * (count - len(self.user_registers))


def words_of(address):
    return [address & 0xFFFFFFFF, address >> 32]


class Machine:
    """A GPU that has loaded a code object."""

    def __init__(self, code):
        self.dialect = emulated(code.architecture)
        if self.dialect is None:
            raise Failure(f"the emulator does not know the instructions of {code.architecture}")
        self.warp = emu._wave_size(self.dialect)
        size = max(segment.address + segment.size for segment in code.segments)
        # Code may be fetched a little beyond its end.
        self.room = (ctypes.c_ubyte * (size + 2 * PAGE))()
        self.base = -(-ctypes.addressof(self.room) // PAGE) * PAGE
        for segment in code.segments:
            ctypes.memmove(self.base + segment.address, segment.content, len(segment.content))
        self.memory = Buffer("CPU", 1 << 40, dtypes.uint32, options=BufferSpec(external_ptr=0)).ensure_allocated()
        self.instructions = {}

    def launch(self, kernel, blocks, threads, values, dynamic_shared_bytes, rng):
        """Runs a kernel to its end, its arguments being `values`. @return how many instructions that took"""
        self._check(kernel)
        launch = Launch(kernel, blocks, threads, values, dynamic_shared_bytes)
        waiting, resident, executed = list(range(blocks)), [], 0
        rng.shuffle(waiting)
        while waiting or resident:
            while waiting and len(resident) < RESIDENT:
                resident.append(Block(self, kernel, waiting.pop(), launch))
            block = rng.choice(resident)
            if not block.running:  # all that have not ended have come to the barrier
                block.running, block.at_barrier = block.at_barrier, []
            if block.running:
                executed += self._take_turn(block, rng)
            else:
                resident.remove(block)
                if not block.is_intact_behind_shared():
                    raise Wrong("it writes beyond its shared memory")
            if executed > LIMIT:
                raise Wrong(f"it does not end within {LIMIT} instructions")
        if not launch.arguments.is_intact_around():
            raise Wrong("it writes over its arguments")
        return executed

    def _check(self, kernel):
        if kernel.is_wave32 and self.warp == 64 or not kernel.is_wave32 and self.warp == 32:
            raise Failure(f"{kernel.name} is for waves of another size than {self.warp}, which the emulator has")
        if kernel.has_dynamic_stack:
            raise Failure(f"{kernel.name} has a stack of unknown size, which is not emulated: it calls a function "
                          "that is not inlined, such as printf")

    def _take_turn(self, block, rng):
        wave = rng.choice(block.running)
        state, buffers = wave
        turn = rng.choice(TURNS)
        for executed in range(turn):
            if state.pc == emu.ENDPGM_PC:
                block.running.remove(wave)
                return executed
            function, used, is_barrier = self._instruction_at(state.pc)
            function(*[buffers[each] for each in used])
            if is_barrier:
                block.running.remove(wave)
                block.at_barrier.append(wave)
                return executed + 1
        return turn

    def _instruction_at(self, address):
        if address not in self.instructions:
            (program, runtime), decoded = emu._decode_at(address, self.dialect)
            name = emu._op_name(decoded)
            # Which the emulator takes for addresses of global memory.
            if re.search("PRIVATE_BASE|SHARED_BASE", repr(decoded)) or re.match("BUFFER_(LOAD|STORE)", name):
                raise Failure("a kernel reads or writes shared memory, or a thread's own, by addresses of a kind that is "
                              f"not emulated: {decoded!r}")
            is_barrier = name in ("S_BARRIER", "S_BARRIER_WAIT")
            self.instructions[address] = runtime.fxn, program.arg.globals, is_barrier
        return self.instructions[address]
