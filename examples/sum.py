import ctypes
import sys

import numpy

library = ctypes.CDLL(sys.argv[1])  # libtenfold.so
library.tenfold_last_error.restype = ctypes.c_char_p


def call(name, *arguments):
    """Arrays go by their address, numbers in 64 bits."""
    kinds = {numpy.ndarray: lambda array: ctypes.c_void_p(array.ctypes.data), int: ctypes.c_uint64}
    if library[name](*(kinds.get(type(each), lambda same: same)(each) for each in arguments)):
        sys.exit(library.tenfold_last_error().decode())


numbers, total = numpy.arange(1_000_000.0), numpy.empty(1)
call("tenfold_reduce", None, b"f64", b"sum", numbers, numbers.size, total)
print(total[0])

# The first two columns of a matrix of four
matrix, greatest = numpy.arange(12, dtype="f4").reshape(3, 4)[:, :2], numpy.empty(2, "f4")
stride = matrix.strides[0] // matrix.itemsize
call("tenfold_reduce_columns", None, b"f32", b"maximum", matrix, *matrix.shape, stride, greatest)
print(*greatest)
