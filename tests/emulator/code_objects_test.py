"""The loader's reading of code objects, with made-up ones: it needs no emulator, no GPU and no compiler."""

import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

import code_objects
from scripts.common import Failure

KERNEL = "_ZN7tenfold6on_hip8two_pass13reduce_blocksILi256ELi64ELi4EffNS0_3sumIfEEEEvPKT2_PT3_mT4_"


def packed(value):
    """In MessagePack."""
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(packed(key) + packed(each) for key, each in value.items())
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(packed, value))
    if isinstance(value, str):
        return (bytes([0xA0 | len(value)]) if len(value) < 32 else b"\xd9" + bytes([len(value)])) + value.encode()
    return bytes([value]) if value < 128 else b"\xcd" + struct.pack(">H", value)


def code_object(abi_version=3, machine=0x4C):
    """An ELF file with a kernel's metadata, symbol and descriptor, all in one segment."""
    metadata = packed({"amdhsa.kernels": [{
        ".name": KERNEL, ".symbol": KERNEL + ".kd", ".kernarg_segment_size": 288, ".group_segment_fixed_size": 16,
        ".private_segment_fixed_size": 0, ".vgpr_count": 22, ".vgpr_spill_count": 0, ".sgpr_spill_count": 3,
        ".args": [{".offset": 0, ".size": 8, ".value_kind": "global_buffer"},
                  {".offset": 44, ".size": 2, ".value_kind": "hidden_group_size_x"}]}]})
    note = struct.pack("<III", 7, len(metadata), 32) + b"AMDGPU\0\0" + metadata
    names = b"\0" + (KERNEL + ".kd").encode() + b"\0"
    descriptor = struct.pack("<IIIxxxxq20xIIIHH4x", 16, 0, 288, 0x1000, 0, 0, 132, 8, 0)
    parts, at = [], 64 + 2 * 56 + 3 * 64
    for part in (note, names, descriptor, b""):
        parts.append(at)
        at += len(part)
    symbol = struct.pack("<IBBHQQ", 1, 0, 0, 1, parts[2], 64)
    header = (b"\x7fELF\2\1\1\x40" + bytes([abi_version]) + bytes(7) +
              struct.pack("<HHIQQQIHHHHHH", 3, 0xE0, 1, 0, 64, 64 + 2 * 56, 0x500 | machine, 64, 56, 2, 64, 3, 0))
    size = at + len(symbol)
    segments = (struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size + 64, 4096) +
                struct.pack("<IIQQQQQQ", 4, 4, parts[0], parts[0], 0, len(note), len(note), 4))
    sections = (bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, parts[1], len(names), 0, 0, 0, 0) +
                struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, at, len(symbol), 1, 0, 0, 24))
    return header + segments + sections + note + names + descriptor + symbol


def bundle(**images):
    """By the architecture of each. The program's own part comes first, and is empty."""
    names = ["host-x86_64-unknown-linux--", *(f"hipv4-amdgcn-amd-amdhsa--{each}" for each in images)]
    at = len(code_objects.BUNDLE) + 8 + sum(24 + len(name) for name in names)
    entries, contents = b"", b""
    for name, image in zip(names, [b"", *images.values()]):
        entries += struct.pack("<QQQ", at + len(contents), len(image), len(name)) + name.encode()
        contents += image
    return code_objects.BUNDLE + struct.pack("<Q", len(names)) + entries + contents


def compressed(content, version, method=0, pack=zlib.compress):
    content, size = pack(content), len(content)
    if version == 1:
        return b"CCOB" + struct.pack("<HHIQ", version, method, size, 0) + content
    if version == 2:
        return b"CCOB" + struct.pack("<HHIIQ", version, method, 24 + len(content), size, 0) + content
    return b"CCOB" + struct.pack("<HHQQQ", version, method, 32 + len(content), size, 0) + content


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "kernels"

    def read(self, content):
        self.file.write_bytes(content)
        return code_objects.code_objects(self.file)

    def assert_refused(self, content, words):
        with self.assertRaisesRegex(Failure, words) as caught:
            self.read(content)
        self.assertNotIn("\n", str(caught.exception))
        self.assertIn(str(self.file), str(caught.exception))


class CodeObjects(Files):
    def test_say_what_a_launch_needs(self):
        (code,) = self.read(code_object())
        self.assertEqual((code.architecture, code.version), ("gfx942", 5))
        kernel = code.kernels[KERNEL]
        self.assertEqual((kernel.entry, kernel.argument_bytes, kernel.shared_bytes), (0x1000, 288, 16))
        self.assertEqual((kernel.resources, kernel.user_registers, kernel.is_wave32), (132, 8, False))
        self.assertEqual(kernel.arguments[1], ("hidden_group_size_x", 44, 2))

    def test_have_zeros_behind_what_is_in_the_file(self):
        whole = code_object()
        (code,) = self.read(whole)
        self.assertEqual(code.content(len(whole) - 1, 3), whole[-1:] + bytes(2))
        with self.assertRaisesRegex(Failure, "nothing at the address"):
            code.content(len(whole) + 62, 4)

    def test_of_three_versions_are_read(self):
        for abi_version, version in ((2, 4), (3, 5), (4, 6)):
            self.assertEqual(self.read(code_object(abi_version))[0].version, version)

    def test_of_other_versions_are_refused(self):
        self.assert_refused(code_object(abi_version=1), "ABI version 1 .* only the code-object versions 4, 5 and 6")

    def test_of_unknown_gpus_have_a_number(self):
        self.assertEqual(self.read(code_object(machine=0x7F))[0].architecture, "machine 0x7f")

    def test_that_end_too_early_are_refused(self):
        whole = code_object()
        for length in (40, 100, 300, len(whole) - 30):
            self.assert_refused(whole[:length], "damaged|ends too early")

    def test_are_no_other_files(self):
        self.assert_refused(b"", "holds no machine code for AMD")
        self.assert_refused(b"garbage" * 1000, "holds no machine code for AMD")
        self.assert_refused(b"\x7fELF" + bytes(200), "holds no machine code for AMD")


class Bundles(Files):
    def test_hold_several_wherever_they_lie(self):
        content = b"a program" * 99 + bundle(gfx942=code_object(), gfx1200=code_object(machine=0x48)) + b"more"
        self.assertEqual([code.architecture for code in self.read(content)], ["gfx942", "gfx1200"])

    def test_are_more_than_their_magic_words(self):
        self.assert_refused(code_objects.BUNDLE + b"\xff" * 100, "holds no machine code")

    def test_that_end_too_early_are_refused(self):
        self.assert_refused(bundle(gfx942=code_object())[:-10], "a bundle ends 10 bytes too early")

    def test_may_be_compressed(self):
        for version in (1, 2, 3):
            for after in (b"", b"more of a library"):
                content = b"a library" + compressed(bundle(gfx942=code_object()), version) + after
                self.assertEqual([code.architecture for code in self.read(content)], ["gfx942"], version)

    @unittest.skipUnless(shutil.which("zstd"), "there is no zstd")
    def test_may_be_compressed_by_zstd(self):
        def zstd(content):
            return subprocess.run(["zstd", "-cq"], input=content, capture_output=True, check=True).stdout

        for version in (1, 2, 3):
            content = b"a library" + compressed(bundle(gfx942=code_object()), version, 1, zstd) + b"more"
            self.assertEqual([code.architecture for code in self.read(content)], ["gfx942"], version)

    def test_that_are_compressed_badly_are_refused(self):
        content = compressed(bundle(gfx942=code_object()), 2)
        self.assert_refused(content[:40] + b"garbage" + content[47:], "a compressed bundle")
        self.assert_refused(content[:-20], "a compressed bundle")


if __name__ == "__main__":
    unittest.main()
