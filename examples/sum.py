import ctypes
import sys

import numpy

tenfold = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libtenfold.so")
tenfold.tenfold_last_error.restype = ctypes.c_char_p
numbers = numpy.arange(1_000_000, dtype=numpy.float64)
total = ctypes.c_double()
if tenfold.tenfold_reduce(b"simt", b"f64", b"sum", ctypes.c_void_p(numbers.ctypes.data),
                          ctypes.c_uint64(numbers.size), ctypes.byref(total)):
    sys.exit(tenfold.tenfold_last_error().decode())
print(total.value)
