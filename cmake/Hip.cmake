# HIP's compiler and architectures: ROCm's where there is a ROCm; else clang, over the packages from
# which Debian and Ubuntu make up one.

# tenfold_find_device_libraries(): sets TENFOLD_DEVICE_LIBRARIES to the folder of Debian's or Ubuntu's. Newer
# releases have them beside the clang of their time.
function(tenfold_find_device_libraries)
  file(GLOB beside_clang /usr/lib/llvm-*/lib/clang/* /usr/lib/clang/*)
  list(SORT beside_clang COMPARE NATURAL ORDER DESCENDING)
  find_path(TENFOLD_DEVICE_LIBRARIES ockl.bc PATH_SUFFIXES amdgcn/bitcode lib/amdgcn/bitcode
            PATHS ${beside_clang} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib/x86_64-linux-gnu)
  mark_as_advanced(TENFOLD_DEVICE_LIBRARIES)
endfunction()

# tenfold_add_device_constant(ROOT COMPILER NAME FILE VALUE): a device library of one constant, if there is none.
function(tenfold_add_device_constant root compiler name file value)
  set(library ${root}/amdgcn/bitcode/oclc_${file}.bc)
  if(EXISTS ${library})
    return()
  endif()
  execute_process(COMMAND ${compiler} --target=amdgcn-amd-amdhsa -nogpulib -x c -S -emit-llvm -o - /dev/null
                  OUTPUT_VARIABLE empty_unit COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "target datalayout = [^\n]*" layout "${empty_unit}")
  file(WRITE ${root}/constant.ll
    "${layout}\ntarget triple = \"amdgcn-amd-amdhsa\"\n"
    "@__oclc_${name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 ${value}, align 4\n")
  execute_process(COMMAND ${compiler} --target=amdgcn-amd-amdhsa -nogpulib -x ir -c -emit-llvm -o ${library}
                          ${root}/constant.ll COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# tenfold_add_wavefront_size(ROOT COMPILER): a header with the macro that HIP 5 asks for on either side, if the
# compiler does not define it: clang gave it up.
function(tenfold_add_wavefront_size root compiler)
  execute_process(COMMAND ${compiler} --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -x c -E -dM /dev/null
                  OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
  if(NOT macros MATCHES "__AMDGCN_WAVEFRONT_SIZE ")
    file(STRINGS ${root}/include/hip/hip_version.h version REGEX "^#define HIP_VERSION_(MAJOR|MINOR) ")
    list(TRANSFORM version REPLACE "[^0-9]" "")
    list(JOIN version "." version)
    if(version VERSION_LESS 5.7)
      message(FATAL_ERROR "${compiler} is too new for HIP ${version}, which is here: name an older one by "
                          "-DCMAKE_HIP_COMPILER=clang++-19")
    endif()
    file(WRITE ${root}/include/wavefront_size.h
      "#if defined(__AMDGCN__) && !defined(__GFX9__)\n#define __AMDGCN_WAVEFRONT_SIZE 32\n"
      "#else\n#define __AMDGCN_WAVEFRONT_SIZE 64\n#endif\n")
  endif()
endfunction()

# tenfold_make_rocm_root(OUT COMPILER ARCHITECTURE...): a folder of links that clang and CMake take for
# a ROCm, with what Debian's device libraries lack: each architecture's own, and that of newer ABIs.
function(tenfold_make_rocm_root out compiler)
  tenfold_find_device_libraries()
  find_path(TENFOLD_HIP_INCLUDE hip/hip_runtime.h)
  find_library(TENFOLD_HIP_LIBRARY amdhip64)
  mark_as_advanced(TENFOLD_HIP_INCLUDE TENFOLD_HIP_LIBRARY)
  if(NOT TENFOLD_HIP_INCLUDE OR NOT TENFOLD_HIP_LIBRARY OR NOT TENFOLD_DEVICE_LIBRARIES)
    message(FATAL_ERROR "TENFOLD_HIP is on, and there is ${compiler}, but no HIP: install ROCm, or on Debian "
                        "and Ubuntu the packages libamdhip64-dev and rocm-device-libs")
  endif()
  set(root ${PROJECT_BINARY_DIR}/rocm)
  file(MAKE_DIRECTORY ${root}/amdgcn/bitcode ${root}/include ${root}/share/hip)
  file(GLOB libraries ${TENFOLD_DEVICE_LIBRARIES}/*.bc)
  foreach(library IN LISTS libraries)
    cmake_path(GET library FILENAME name)
    file(CREATE_LINK ${library} ${root}/amdgcn/bitcode/${name} SYMBOLIC)
  endforeach()
  foreach(folder hip hsa)
    file(CREATE_LINK ${TENFOLD_HIP_INCLUDE}/${folder} ${root}/include/${folder} SYMBOLIC)
  endforeach()
  file(CREATE_LINK /usr/share/hip/version ${root}/share/hip/version SYMBOLIC)

  foreach(architecture IN LISTS ARGN)
    # Without the features that may follow, as in gfx90a:xnack-. gfx1103 is 11.0.3; the last two digits are hexadecimal.
    if(NOT architecture MATCHES "^gfx([0-9]+)([0-9a-f])([0-9a-f])(:|$)")
      message(FATAL_ERROR "CMAKE_HIP_ARCHITECTURES names '${architecture}', which Debian's packages do not serve: "
                          "name GPUs such as gfx90a or gfx1100, or install ROCm")
    endif()
    math(EXPR number "${CMAKE_MATCH_1} * 1000 + 0x${CMAKE_MATCH_2} * 100 + 0x${CMAKE_MATCH_3}")
    set(version ${CMAKE_MATCH_1}${CMAKE_MATCH_2}${CMAKE_MATCH_3})
    tenfold_add_device_constant(${root} ${compiler} ISA_version isa_version_${version} ${number})
  endforeach()
  tenfold_add_device_constant(${root} ${compiler} ABI_version abi_version_600 600)
  tenfold_add_wavefront_size(${root} ${compiler})

  # CMake asks ROCm's package how to link; this says it of Debian's library.
  file(WRITE ${root}/lib/cmake/hip-lang/hip-lang-config.cmake
"if(NOT TARGET hip-lang::device)
  add_library(hip-lang::amdhip64 SHARED IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES IMPORTED_LOCATION ${TENFOLD_HIP_LIBRARY})
  add_library(hip-lang::host INTERFACE IMPORTED)
  set_target_properties(hip-lang::host PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)
  add_library(hip-lang::device INTERFACE IMPORTED)
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::host
    INTERFACE_LINK_OPTIONS \"$<$<LINK_LANGUAGE:HIP>:--hip-link>\")
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
")
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# tenfold_list_known_hip_gpus(OUT COMPILER): the architectures of a list that the compiler knows.
function(tenfold_list_known_hip_gpus out compiler)
  set(architectures)
  foreach(architecture gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1200 gfx1201 gfx1250)
    execute_process(COMMAND ${compiler} --target=amdgcn-amd-amdhsa -mcpu=${architecture} -nogpulib -x c
                            -fsyntax-only /dev/null RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      list(APPEND architectures ${architecture})
    endif()
  endforeach()
  set(${out} ${architectures} PARENT_SCOPE)
endfunction()

# From 7.13 on packages of ROCm lie in /opt/rocm/core, to which /opt/rocm has links if all of it is installed.
find_path(TENFOLD_ROCM lib/cmake/hip-lang/hip-lang-config.cmake PATHS ENV ROCM_PATH /opt/rocm /opt/rocm/core
          NO_DEFAULT_PATH)
mark_as_advanced(TENFOLD_ROCM)
if(NOT CMAKE_HIP_COMPILER)
  if(DEFINED ENV{HIPCXX})
    separate_arguments(named UNIX_COMMAND "$ENV{HIPCXX}")
    list(GET named 0 named)
    find_program(CMAKE_HIP_COMPILER ${named})
  elseif(TENFOLD_ROCM)
    # By its path: CMake would take another clang that is on PATH.
    find_program(CMAKE_HIP_COMPILER clang++ PATHS ${TENFOLD_ROCM}/llvm/bin ${TENFOLD_ROCM}/lib/llvm/bin
                 NO_DEFAULT_PATH)
  else()
    # The clang of the device libraries' time: an older one cannot read them. From version 22 on clang does not compile
    # HIP 5.2, which Debian 12 has. Before 19 it does not know the newer GPUs, or stops at the standard library.
    tenfold_find_device_libraries()
    set(names clang++-19 clang++-20 clang++-21 clang++-22)
    if(TENFOLD_DEVICE_LIBRARIES MATCHES "/clang/([0-9]+)" AND CMAKE_MATCH_1 GREATER 19)
      set(names clang++-${CMAKE_MATCH_1})
    endif()
    find_program(CMAKE_HIP_COMPILER NAMES ${names})
  endif()
  if(NOT CMAKE_HIP_COMPILER)
    message(FATAL_ERROR "TENFOLD_HIP is on, but there is no ROCm in /opt/rocm: install it, set ROCM_PATH to where "
                        "it is, or on Debian and Ubuntu let './tenfold --preset hip' install what takes its place")
  endif()
endif()
if(NOT CMAKE_HIP_ARCHITECTURES AND DEFINED ENV{HIPARCHS})
  set(CMAKE_HIP_ARCHITECTURES $ENV{HIPARCHS})
endif()
set(TENFOLD_HIP_TEST_ARCHITECTURES ${CMAKE_HIP_ARCHITECTURES})
if(NOT CMAKE_HIP_ARCHITECTURES)
  # Those of this machine's GPUs.
  find_program(TENFOLD_LIST_AGENTS rocm_agent_enumerator HINTS ${TENFOLD_ROCM}/bin)
  mark_as_advanced(TENFOLD_LIST_AGENTS)
  if(TENFOLD_LIST_AGENTS)
    execute_process(COMMAND ${TENFOLD_LIST_AGENTS} OUTPUT_VARIABLE agents ERROR_QUIET)
    string(REGEX MATCHALL "gfx[0-9a-f][0-9a-f][0-9a-f]+" CMAKE_HIP_ARCHITECTURES "${agents}")
    list(REMOVE_ITEM CMAKE_HIP_ARCHITECTURES gfx000)  # the CPU
    list(REMOVE_DUPLICATES CMAKE_HIP_ARCHITECTURES)
  endif()
  set(TENFOLD_HIP_TEST_ARCHITECTURES ${CMAKE_HIP_ARCHITECTURES})
  if(NOT CMAKE_HIP_ARCHITECTURES)
    tenfold_list_known_hip_gpus(CMAKE_HIP_ARCHITECTURES "${CMAKE_HIP_COMPILER}")
    # Tests for a GPU that is not here.
    list(GET CMAKE_HIP_ARCHITECTURES 0 TENFOLD_HIP_TEST_ARCHITECTURES)
  endif()
endif()
# Enough for units whose kernels never run.
list(GET CMAKE_HIP_ARCHITECTURES 0 TENFOLD_HIP_ONE_ARCHITECTURE)
if(TENFOLD_ROCM)
  set(CMAKE_HIP_COMPILER_ROCM_ROOT ${TENFOLD_ROCM})
  list(APPEND CMAKE_PREFIX_PATH ${TENFOLD_ROCM})  # where rocPRIM and hipCUB are
elseif(CMAKE_HIP_COMPILER MATCHES "clang\\+\\+-[0-9]+$")
  # `tenfold isa` and tests look at code for other GPUs than those of the build.
  tenfold_list_known_hip_gpus(known "${CMAKE_HIP_COMPILER}")
  tenfold_make_rocm_root(CMAKE_HIP_COMPILER_ROCM_ROOT ${CMAKE_HIP_COMPILER} ${CMAKE_HIP_ARCHITECTURES} ${known})
endif()
if(CMAKE_HIP_COMPILER_ROCM_ROOT AND NOT CMAKE_HIP_FLAGS MATCHES "--rocm-path")
  string(APPEND CMAKE_HIP_FLAGS " --rocm-path=${CMAKE_HIP_COMPILER_ROCM_ROOT}")
  if(EXISTS ${CMAKE_HIP_COMPILER_ROCM_ROOT}/include/wavefront_size.h)
    string(APPEND CMAKE_HIP_FLAGS " -isystem ${CMAKE_HIP_COMPILER_ROCM_ROOT}/include -include wavefront_size.h")
  endif()
  # Where newer ROCm have them, clang does not look.
  set(beside_llvm ${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib/llvm/amdgcn/bitcode)
  if(EXISTS ${beside_llvm} AND NOT EXISTS ${CMAKE_HIP_COMPILER_ROCM_ROOT}/amdgcn/bitcode)
    string(APPEND CMAKE_HIP_FLAGS " --rocm-device-lib-path=${beside_llvm}")
  endif()
endif()

# A call would cost its kernel registers. hipcc has long given these options, which are clang's own.
set(TENFOLD_HIP_INLINING -mllvm -amdgpu-early-inline-all=true -mllvm -amdgpu-function-calls=false)
execute_process(COMMAND ${CMAKE_HIP_COMPILER} --target=amdgcn-amd-amdhsa -nogpulib ${TENFOLD_HIP_INLINING} -x c
                        -S -o /dev/null /dev/null RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  set(TENFOLD_HIP_INLINING)
endif()

enable_language(HIP)
set(CMAKE_HIP_STANDARD 20)
set(CMAKE_HIP_STANDARD_REQUIRED ON)
# In the place of what only clang knows: the headers are also compiled by g++.
set(CMAKE_PCH_PROLOGUE "#pragma GCC system_header")
