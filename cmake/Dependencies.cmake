# Libraries: the installed ones first, their sources where there are none.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

find_package(Threads REQUIRED)

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1
                           GIT_SHALLOW ON)
  FetchContent_MakeAvailable(fmt)
endif()

add_library(tenfold_fmt INTERFACE)
target_link_libraries(tenfold_fmt
                      INTERFACE $<IF:$<BOOL:${TENFOLD_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  FetchContent_Declare(CLI11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2
                             GIT_SHALLOW ON)
  FetchContent_MakeAvailable(CLI11)
endif()

find_package(nlohmann_json 3.10 QUIET)
if(NOT nlohmann_json_FOUND)
  FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json.git
                                     GIT_TAG v3.11.3 GIT_SHALLOW ON)
  FetchContent_MakeAvailable(nlohmann_json)
endif()

set(Boost_USE_STATIC_LIBS ${TENFOLD_PORTABLE})
find_package(Boost 1.70 CONFIG QUIET COMPONENTS context)
if(NOT TARGET Boost::context)
  set(BOOST_INCLUDE_LIBRARIES context)
  set(BOOST_ENABLE_CMAKE ON)
  FetchContent_Declare(
    Boost URL https://github.com/boostorg/boost/releases/download/boost-1.86.0/boost-1.86.0-cmake.tar.xz
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(Boost)
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

if(TENFOLD_BENCH)
  find_package(benchmark 1.7 QUIET)
  if(NOT benchmark_FOUND)
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    FetchContent_Declare(benchmark GIT_REPOSITORY https://github.com/google/benchmark.git
                                   GIT_TAG v1.8.3 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(benchmark)
  endif()
endif()

if(TENFOLD_TESTS)
  find_package(GTest 1.11 QUIET)
  if(NOT GTest_FOUND)
    FetchContent_Declare(GTest GIT_REPOSITORY https://github.com/google/googletest.git
                               GIT_TAG v1.14.0 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(GTest)
  endif()
  include(GoogleTest)
endif()
