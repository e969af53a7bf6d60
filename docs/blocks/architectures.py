"""What a GPU architecture can do, which no program of ours finds out."""

# Additions of f32 per clock and multiprocessor: CUDA C++ Programming Guide, "Arithmetic
# Instructions", table of throughput by compute capability.
ADDITIONS_PER_CLOCK = {"sm_90": 128}

# The most threads that a multiprocessor holds: the same, "Technical Specifications per Compute
# Capability".
THREADS_PER_MULTIPROCESSOR = {"sm_75": 1024, "sm_80": 2048, "sm_86": 1536, "sm_89": 1536, "sm_90": 2048}
