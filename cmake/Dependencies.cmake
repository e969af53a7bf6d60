# Libraries: the installed ones first, their sources where there are none.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

find_package(Threads REQUIRED)

FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1 GIT_SHALLOW ON
                         FIND_PACKAGE_ARGS 9 QUIET)
set(Boost_USE_STATIC_LIBS ${TENFOLD_PORTABLE})
set(BOOST_INCLUDE_LIBRARIES context)
set(BOOST_ENABLE_CMAKE ON)
FetchContent_Declare(
  Boost URL https://github.com/boostorg/boost/releases/download/boost-1.86.0/boost-1.86.0-cmake.tar.xz
  DOWNLOAD_EXTRACT_TIMESTAMP ON
  FIND_PACKAGE_ARGS 1.70 CONFIG QUIET COMPONENTS context)
FetchContent_MakeAvailable(fmt Boost)

add_library(tenfold_fmt INTERFACE)
target_link_libraries(tenfold_fmt
                      INTERFACE $<IF:$<BOOL:${TENFOLD_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)

# So far what the executor takes, the rest for the program.
if(NOT TENFOLD_PROGRAM)
  return()
endif()

FetchContent_Declare(CLI11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2
                           GIT_SHALLOW ON FIND_PACKAGE_ARGS 2.1 QUIET)
FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3
                                   GIT_SHALLOW ON FIND_PACKAGE_ARGS 3.10 QUIET)
FetchContent_MakeAvailable(CLI11 nlohmann_json)

# For several processes, and for no other: its interface for C will do.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "--distributed is left out: there is no MPI")
endif()

if(TENFOLD_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  FetchContent_Declare(benchmark GIT_REPOSITORY https://github.com/google/benchmark.git GIT_TAG v1.8.3
                                 GIT_SHALLOW ON FIND_PACKAGE_ARGS 1.7 QUIET)
  FetchContent_MakeAvailable(benchmark)
endif()

if(TENFOLD_TESTS)
  FetchContent_Declare(GTest GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.14.0
                             GIT_SHALLOW ON FIND_PACKAGE_ARGS 1.11 QUIET)
  FetchContent_MakeAvailable(GTest)
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
