"""AMD's code objects: the ELF files that hold machine code for a GPU, and the bundles in which the compiler
wraps those of several GPUs. LLVM's "User Guide for AMDGPU Backend" and the pages of clang-offload-bundler
describe the formats. Nothing here needs the emulator."""

import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from scripts.common import Failure  # noqa: E402

BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
AMDGPU = b"\xe0\x00"  # the machine in an ELF header

# EF_AMDGPU_MACH. Of the others, the number must do.
ARCHITECTURES = {0x2F: "gfx906", 0x30: "gfx908", 0x3F: "gfx90a", 0x4C: "gfx942", 0x4F: "gfx950",
                 0x33: "gfx1010", 0x36: "gfx1030", 0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102",
                 0x44: "gfx1103", 0x43: "gfx1150", 0x4A: "gfx1151", 0x48: "gfx1200", 0x4E: "gfx1201"}
# By the version of the ABI in the ELF header.
VERSIONS = {2: 4, 3: 5, 4: 6}

Segment = collections.namedtuple("Segment", "address content size")
Argument = collections.namedtuple("Argument", "kind offset size")
# `descriptor` is an address in the code object, `entry` is relative to it.
Kernel = collections.namedtuple("Kernel", "name descriptor entry arguments argument_bytes shared_bytes own_bytes "
                                          "vector_registers spilled_registers resources user_registers is_wave32 "
                                          "has_dynamic_stack")


# ---- bundles ------------------------------------------------------------------------------------


def code_objects(path):
    """The code objects for AMD in a file, as CodeObject: it is one, a bundle, or a program, library or object
    with bundles in it."""
    data = pathlib.Path(path).read_bytes()
    try:
        found = [CodeObject(image) for image in images(data)]
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise Failure(f"{path}: a code object in it is damaged: {error}") from error
    except Failure as failure:
        raise Failure(f"{path}: {failure}") from failure
    if not found:
        raise Failure(f"{path}: holds no machine code for AMD's GPUs")
    return found


def images(data):
    """The code objects in some bytes, as bytes."""
    if data[:4] == b"\x7fELF" and data[18:20] == AMDGPU:
        yield data
        return
    for found in re.finditer(re.escape(BUNDLE) + b"|" + COMPRESSED + rb"[\x01-\x03]\0[\0\x01]\0", data):
        if found[0].startswith(COMPRESSED):
            yield from images(decompressed(data[found.start():]))
        else:
            yield from images_in_bundle(data[found.start():])


def images_in_bundle(bundle):
    """A bundle is its magic, the number of its entries, and for each its offset, size and name, such as
    `hipv4-amdgcn-amd-amdhsa--gfx942`."""
    (count,) = struct.unpack_from("<Q", bundle, len(BUNDLE))
    at = len(BUNDLE) + 8
    if count > 1000:  # a program that looks for bundles has the words in it, too
        return
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", bundle, at)
        at += 24 + length
        image = bundle[offset:offset + size]
        if len(image) != size:
            raise Failure(f"a bundle ends {size - len(image)} bytes too early")
        if image[18:20] == AMDGPU:
            yield image


def decompressed(data):
    """The bundle in a compressed one: magic, version, method, the size of all (from version 2 on), the size
    of what is in it, a hash. In version 3 the sizes have eight bytes."""
    version, method = struct.unpack_from("<HH", data, 4)
    if version == 1:
        header, total, size = 20, len(data), *struct.unpack_from("<I", data, 8)
    else:
        header, (total, size) = (24, struct.unpack_from("<II", data, 8)) if version == 2 else (
            32, struct.unpack_from("<QQ", data, 8))
    content = (from_zlib if method == 0 else from_zstd)(data[header:total])
    if len(content) != size:
        raise Failure(f"a compressed bundle holds {len(content)} bytes, and says {size}")
    return content


def from_zlib(data):
    try:
        return zlib.decompressobj().decompress(data)
    except zlib.error as error:
        raise Failure(f"a compressed bundle is damaged: {error}") from error


def from_zstd(data):
    """By the program: Python knows zstd from version 3.14 on."""
    if not shutil.which("zstd"):
        raise Failure("a bundle in it is compressed by zstd: install the program zstd, or build with "
                      "--no-offload-compress")
    # What follows a bundle of version 1 is no part of it, which the program says after it has written all.
    done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)
    if not done.stdout:
        raise Failure(f"a compressed bundle is damaged: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


# ---- code objects -------------------------------------------------------------------------------


class CodeObject:
    """What a loader must know: the segments, the addresses of symbols, and the kernels by their names."""

    def __init__(self, elf):
        if elf[:4] != b"\x7fELF" or elf[18:20] != AMDGPU:
            raise Failure("this is no code object of AMD")
        self.version = VERSIONS.get(elf[8])
        if self.version is None:
            raise Failure(f"a code object has ABI version {elf[8]} in its header: only the code-object versions "
                          "4, 5 and 6 are read")
        segments, sections, flags = struct.unpack_from("<QQI", elf, 32)
        segment_size, segment_count, section_size, section_count = struct.unpack_from("<HHHH", elf, 54)
        self.architecture = ARCHITECTURES.get(flags & 0xFF, f"machine {flags & 0xFF:#x}")
        headers = [struct.unpack_from("<IIQQQQQQ", elf, segments + i * segment_size) for i in range(segment_count)]
        self.segments = [Segment(address, elf[offset:offset + size], room)
                         for kind, _, offset, address, _, size, room, _ in headers if kind == 1]
        if any(len(elf) < offset + size for _, _, offset, _, _, size, *_ in headers):
            raise Failure("a code object ends too early")
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + i * section_size)
                         for i in range(section_count)]
        if any(kind in (4, 9) and size for _, kind, _, _, _, size, *_ in self.sections):
            raise Failure("a code object has relocations, which the loader here does not know")
        self.symbols = dict(self._symbols(elf))
        self.kernels = {}
        for notes in (elf[offset:offset + size] for kind, _, offset, _, _, size, *_ in headers if kind == 4):
            for each in self._metadata(notes).get("amdhsa.kernels", []):
                self.kernels[each[".name"]] = self._kernel(each)

    def content(self, address, size):
        """The bytes that a loader puts at an address. What is in no file is zero."""
        for segment in self.segments:
            if segment.address <= address and address + size <= segment.address + segment.size:
                return segment.content[address - segment.address:][:size].ljust(size, b"\0")
        raise Failure(f"a code object has nothing at the address {address:#x}, which a symbol names")

    def _symbols(self, elf):
        for _, kind, _, _, offset, size, link, *_ in self.sections:
            for at in range(offset, offset + size, 24) if kind == 11 else ():
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
                start = self.sections[link][4] + name
                yield elf[start:elf.index(b"\0", start)].decode(), value

    @staticmethod
    def _metadata(notes):
        """Of the note of AMDGPU that holds it, in MessagePack."""
        at = 0
        while at < len(notes):
            name_size, size, kind = struct.unpack_from("<III", notes, at)
            begin = at + 12 + (name_size + 3) // 4 * 4
            if notes[at + 12:at + 18] == b"AMDGPU" and kind == 32:
                return Unpacked(notes[begin:begin + size]).value()
            at = begin + (size + 3) // 4 * 4
        return {}

    def _kernel(self, metadata):
        address = self.symbols[metadata[".symbol"]]
        descriptor = self.content(address, 64)
        (entry,) = struct.unpack_from("<q", descriptor, 16)
        resources, properties = struct.unpack_from("<IH", descriptor, 52)
        return Kernel(
            name=metadata[".name"], descriptor=address, entry=entry,
            arguments=[Argument(each[".value_kind"], each[".offset"], each[".size"])
                       for each in metadata.get(".args", [])],
            argument_bytes=metadata[".kernarg_segment_size"], shared_bytes=metadata[".group_segment_fixed_size"],
            own_bytes=metadata[".private_segment_fixed_size"], vector_registers=metadata[".vgpr_count"],
            spilled_registers=metadata[".vgpr_spill_count"] + metadata[".sgpr_spill_count"], resources=resources,
            # Bit by bit what the first scalar registers hold, see machine.py.
            user_registers=properties & 0x7F, is_wave32=bool(properties >> 10 & 1),
            has_dynamic_stack=bool(properties >> 11 & 1))


class Unpacked:
    """A value in MessagePack: as much of it as the metadata of code objects take."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def text(self, size):
        return self.take(size).decode()

    def array(self, count):
        return [self.value() for _ in range(count)]

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}

    def value(self):
        kind = self.number(1)
        if kind < 0x80:
            return kind
        if kind < 0x90:
            return self.map(kind & 0x0F)
        if kind < 0xA0:
            return self.array(kind & 0x0F)
        if kind < 0xC0:
            return self.text(kind & 0x1F)
        if kind >= 0xE0:
            return kind - 0x100
        if kind in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[kind]
        if 0xCC <= kind <= 0xCF:
            return self.number(1 << kind - 0xCC)
        readers = {0xD9: (self.text, 1), 0xDA: (self.text, 2), 0xDB: (self.text, 4), 0xDC: (self.array, 2),
                   0xDD: (self.array, 4), 0xDE: (self.map, 2), 0xDF: (self.map, 4)}
        if kind not in readers:
            raise Failure(f"the metadata of a code object hold a value of kind {kind:#x}, which is not read")
        read, size = readers[kind]
        return read(self.number(size))
