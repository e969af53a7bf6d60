# What other projects take: tenfold::cuda and tenfold::hip, which are headers alone, and tenfold::simt, which is the
# executor's library as well.
include(CMakePackageConfigHelpers)
if(PROJECT_IS_TOP_LEVEL)
  include(GNUInstallDirs)
endif()

# tenfold_offer(TARGET NAME SCOPE): a target that other projects take, as tenfold::NAME. Headers include each
# other by their paths from the root, which is a folder of its own where they are installed.
function(tenfold_offer target name scope)
  add_library(tenfold::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tenfold>)
  target_compile_features(${target} ${scope} cxx_std_20)
  if(PROJECT_IS_TOP_LEVEL)
    install(TARGETS ${target} EXPORT tenfold COMPONENT cpp)
  else()
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)  # built if it is taken
  endif()
endfunction()

foreach(backend cuda hip)
  string(TOUPPER ${backend} language)
  set(target tenfold_headers_of_${backend})
  add_library(${target} INTERFACE)
  tenfold_offer(${target} ${backend} INTERFACE)
  # By an option, as CMake 3.25 does not know that nvcc has it; whoever asks for a standard gets that.
  target_compile_options(
    ${target} INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:${language}>,$<NOT:$<BOOL:$<TARGET_PROPERTY:${language}_STANDARD>>>>:-std=c++20>)
endforeach()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/*.hpp)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold/host COMPONENT cpp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/host/ranks ${PROJECT_SOURCE_DIR}/host/reduce ${PROJECT_SOURCE_DIR}/host/runtime
                  ${PROJECT_SOURCE_DIR}/host/simt
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold/host COMPONENT cpp
        FILES_MATCHING PATTERN *.hpp PATTERN *.inl
        # What only the program and the executor's own units include.
        REGEX "/(block_runner|fiber_stacks|kernel_(sources|symbols)|operator_list|unlisted_stages)\\.hpp$" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/common ${PROJECT_SOURCE_DIR}/kernels
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold COMPONENT cpp
        FILES_MATCHING PATTERN *.hpp PATTERN pitfalls EXCLUDE)
set(TENFOLD_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/tenfold)
install(EXPORT tenfold FILE tenfold-targets.cmake NAMESPACE tenfold:: DESTINATION ${TENFOLD_PACKAGE_FOLDER} COMPONENT cpp)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tenfold-config.cmake
     CONTENT "foreach(part targets c)
  include(\${CMAKE_CURRENT_LIST_DIR}/tenfold-\${part}.cmake OPTIONAL)
endforeach()\n" ESCAPE_QUOTES @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tenfold-config-version.cmake COMPATIBILITY SameMinorVersion)
foreach(component cpp c)  # either comes without the other
  install(FILES ${PROJECT_BINARY_DIR}/tenfold-config.cmake ${PROJECT_BINARY_DIR}/tenfold-config-version.cmake
          DESTINATION ${TENFOLD_PACKAGE_FOLDER} COMPONENT ${component})
endforeach()
