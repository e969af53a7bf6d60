# The GPU backends' languages and what their compilers are told.

# tenfold_generate_code(OUT PTX ARCHITECTURE...): the option that makes PTX and assembles it for each.
function(tenfold_generate_code out ptx)
  list(JOIN ARGN "$<COMMA>sm_" codes)
  set(${out} --generate-code=arch=${ptx}$<COMMA>code=[sm_${codes}$<COMMA>${ptx}] PARENT_SCOPE)
endfunction()

if(TENFOLD_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS /usr/local/cuda/bin)
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    message(FATAL_ERROR "TENFOLD_CUDA is on, but there is no nvcc: install the CUDA Toolkit, add its "
                        "bin folder to PATH, or set CMAKE_CUDA_COMPILER")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # The GPU of this machine, if it has one; else whatever the toolkit still compiles for.
    execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET)
    if(gpus MATCHES "GPU 0")
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known)
      foreach(architecture 75 80 90 100 120)
        if(known MATCHES "sm_${architecture}\n")
          list(APPEND architectures ${architecture})
        endif()
      endforeach()
      # One PTX, that of the oldest, for them all and for what comes: making PTX takes longer than
      # assembling it for each. Kernels that use what came with 9.0 have two.
      list(GET architectures 0 oldest)
      set(CMAKE_CUDA_ARCHITECTURES OFF)
      tenfold_generate_code(TENFOLD_CUDA_CODE compute_${oldest} ${architectures})
      set(TENFOLD_CUDA_PTX --generate-code=arch=compute_${oldest}$<COMMA>code=compute_${oldest})
      set(before ${architectures})
      set(since ${architectures})
      list(FILTER before EXCLUDE REGEX "^(9.|1..)$")
      list(FILTER since INCLUDE REGEX "^(9.|1..)$")
      tenfold_generate_code(code_before compute_${oldest} ${before})
      tenfold_generate_code(code_since compute_90 ${since})
      set(TENFOLD_CUDA_CODE_WITH_90 ${code_before} ${code_since})
    endif()
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # nvcc has it since 12.0, CMake 3.25.1 does not know
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  # For the host's code, which launches kernels by the hundred; that of the device is optimised in
  # full whatever this says.
  set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()

if(TENFOLD_HIP)
  include(Hip)
endif()

# What gathers from GPU to GPU, where it is: NCCL or RCCL.
foreach(backend_and_library cuda:nccl hip:rccl)
  string(REPLACE ":" ";" pair ${backend_and_library})
  list(GET pair 0 backend)
  list(GET pair 1 library)
  find_library(TENFOLD_LIBRARY_OF_${backend}_ranks ${library}
               HINTS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} /opt/rocm/lib)
  find_path(TENFOLD_HEADER_OF_${backend}_ranks NAMES ${library}.h ${library}/${library}.h
            HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} /opt/rocm/include)
  mark_as_advanced(TENFOLD_LIBRARY_OF_${backend}_ranks TENFOLD_HEADER_OF_${backend}_ranks)
endforeach()
