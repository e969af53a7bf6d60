import ctypes
import sys

import numpy

library = ctypes.CDLL(sys.argv[1])  # libtenfold.so
library.tenfold_last_error.restype = ctypes.c_char_p
numbers, total = numpy.arange(1_000_000.0), ctypes.c_double()
if library.tenfold_reduce(None, b"f64", b"sum", ctypes.c_void_p(numbers.ctypes.data), ctypes.c_uint64(numbers.size),
                          ctypes.byref(total)):
    sys.exit(library.tenfold_last_error().decode())
print(total.value)
