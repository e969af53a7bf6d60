import ctypes
import sys

import numpy

library = ctypes.CDLL(sys.argv[1])  # libtenfold.so
library.tenfold_last_error.restype = ctypes.c_char_p
numbers, total = numpy.arange(1_000_000.0), numpy.empty(1)
count = ctypes.c_uint64(numbers.size)
if library.tenfold_reduce(None, b"f64", b"sum", numbers.ctypes, count, total.ctypes):
    sys.exit(library.tenfold_last_error().decode())
print(total[0])
