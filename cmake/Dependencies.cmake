# Libraries: the installed ones first, their sources where there are none.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

find_package(Threads REQUIRED)

# tenfold_take(NAME VERSION REPOSITORY TAG): what is installed, from this version on; else this tag on GitHub.
macro(tenfold_take name version repository tag)
  FetchContent_Declare(${name} GIT_REPOSITORY https://github.com/${repository}.git GIT_TAG ${tag} GIT_SHALLOW ON
                               FIND_PACKAGE_ARGS ${version} QUIET)
  FetchContent_MakeAvailable(${name})
endmacro()

tenfold_take(fmt 9 fmtlib/fmt 10.2.1)
set(Boost_USE_STATIC_LIBS ${TENFOLD_PORTABLE})
set(BOOST_INCLUDE_LIBRARIES context)
set(BOOST_ENABLE_CMAKE ON)
FetchContent_Declare(
  Boost URL https://github.com/boostorg/boost/releases/download/boost-1.86.0/boost-1.86.0-cmake.tar.xz
  DOWNLOAD_EXTRACT_TIMESTAMP ON
  FIND_PACKAGE_ARGS 1.70 CONFIG QUIET COMPONENTS context)
FetchContent_MakeAvailable(Boost)
if(NOT TARGET Boost::context)
  message(FATAL_ERROR "There is a Boost in ${Boost_DIR}, but not its library Context, which the executor takes: "
                      "install it (libboost-context-dev), or have it built with -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON")
endif()

add_library(tenfold_fmt INTERFACE)
target_link_libraries(tenfold_fmt
                      INTERFACE $<IF:$<BOOL:${TENFOLD_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)

# So far what the executor takes, the rest for the program.
if(NOT TENFOLD_PROGRAM)
  return()
endif()

tenfold_take(CLI11 2.1 CLIUtils/CLI11 v2.4.2)
tenfold_take(nlohmann_json 3.10 nlohmann/json v3.11.3)

# For several processes, and for no other: its interface for C will do.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "--distributed is left out: there is no MPI")
endif()

if(TENFOLD_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  tenfold_take(benchmark 1.7 google/benchmark v1.8.3)
endif()

if(TENFOLD_TESTS)
  tenfold_take(GTest 1.11 google/googletest v1.14.0)
  include(GoogleTest)
endif()

# tenfold_bundle(NAME [FOLDER]): puts a library that distributions have in no other form than shared
# into the folder lib/ beside the programs of a portable build.
function(tenfold_bundle name)
  if(TENFOLD_PORTABLE)
    find_library(TENFOLD_LIBRARY_${name} ${name} HINTS ${ARGN} NO_CACHE)
    if(IS_SYMLINK ${TENFOLD_LIBRARY_${name}})
      # It points to the name by which programs ask for it; the file itself has a longer one.
      file(READ_SYMLINK ${TENFOLD_LIBRARY_${name}} asked_for)
      cmake_path(GET asked_for FILENAME asked_for)
      file(REAL_PATH ${TENFOLD_LIBRARY_${name}} file)
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
      file(COPY_FILE ${file} ${PROJECT_BINARY_DIR}/lib/${asked_for} ONLY_IF_DIFFERENT)
    endif()
  endif()
endfunction()
