# The site of the documentation, `cmake --build --preset docs`: Doxygen reads the headers, Sphinx makes
# the pages. docs/site/ says how.
find_program(TENFOLD_DOXYGEN doxygen)
find_program(TENFOLD_SPHINX_BUILD sphinx-build)
mark_as_advanced(TENFOLD_DOXYGEN TENFOLD_SPHINX_BUILD)

set(TENFOLD_DOCS_BUILD ${PROJECT_BINARY_DIR}/docs)
set(TENFOLD_DOCS_MISSING
    "the site takes Doxygen, Sphinx, MyST, Furo and Breathe: './tenfold docs' installs them, or install them yourself and call 'cmake --preset simt' again"
)

# The Python that sphinx-build runs under, if all that the site takes is there.
set(TENFOLD_DOCS_PYTHON)
if(EXISTS "${TENFOLD_DOXYGEN}" AND EXISTS "${TENFOLD_SPHINX_BUILD}")
  file(STRINGS ${TENFOLD_SPHINX_BUILD} first_line LIMIT_COUNT 1)
  string(REGEX REPLACE "^#! *" "" python "${first_line}")
  separate_arguments(python UNIX_COMMAND "${python}")
  execute_process(COMMAND ${python} -c "import breathe, furo, myst_parser, sphinx"
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(TENFOLD_DOCS_PYTHON ${python})
  endif()
endif()

# tenfold_add_site(TARGET BUILDER [BY_PROGRAM]): the pages in the form that a builder of Sphinx gives them; all of them
# every time, for Sphinx warns of a page only when it reads it, and leaves those that are no more.
# BY_PROGRAM: the folder of those that the program wrote.
function(tenfold_add_site target builder)
  add_custom_target(
    ${target}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${TENFOLD_DOCS_BUILD}/doxygen ${TENFOLD_DOCS_BUILD}/${builder}
    COMMAND ${TENFOLD_DOXYGEN} ${TENFOLD_DOCS_BUILD}/Doxyfile
    COMMAND ${TENFOLD_DOCS_PYTHON} -B docs/site/constraints.py ${TENFOLD_DOCS_BUILD}/doxygen/xml
    COMMAND ${TENFOLD_DOCS_PYTHON} -B docs/site/stage.py ${TENFOLD_DOCS_BUILD}/pages ${ARGN}
    COMMAND
      ${CMAKE_COMMAND} -E env TENFOLD_DOXYGEN_XML=${TENFOLD_DOCS_BUILD}/doxygen/xml TENFOLD_PROGRAM_PAGES=${ARGN}
      PYTHONDONTWRITEBYTECODE=1
      ${TENFOLD_DOCS_PYTHON} -m sphinx -b ${builder} -c docs/site -d ${TENFOLD_DOCS_BUILD}/doctrees -q -n -W
      --keep-going -E -a ${TENFOLD_DOCS_BUILD}/pages ${TENFOLD_DOCS_BUILD}/${builder}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    USES_TERMINAL VERBATIM)
endfunction()

if(TENFOLD_DOCS_PYTHON)
  configure_file(docs/site/Doxyfile.in ${TENFOLD_DOCS_BUILD}/Doxyfile @ONLY)
  if(TARGET tenfold_observer)
    # The pages that the program writes. All that it loads for them is built before: it must not call the build that
    # calls it.
    add_custom_target(
      program_pages
      COMMAND ${TENFOLD_DOCS_PYTHON} -B docs/site/program_pages.py $<TARGET_FILE:tenfold> ${TENFOLD_DOCS_BUILD}/by_program
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      VERBATIM)
    list(SUBLIST TENFOLD_STAGES 0 10 stages)
    foreach(stage IN LISTS stages)
      add_dependencies(program_pages tenfold_observed_${stage}_of_f32_sum)
    endforeach()
    foreach(file IN LISTS TENFOLD_PITFALL_FILES)
      cmake_path(GET file STEM name)
      add_dependencies(program_pages tenfold_observed_pitfall_${name})
    endforeach()
    add_dependencies(program_pages tenfold tenfold_inspector tenfold_observer)
    tenfold_add_site(docs html ${TENFOLD_DOCS_BUILD}/by_program)
    add_dependencies(docs program_pages)
  else()
    tenfold_add_site(docs html)
  endif()
  tenfold_add_site(docs-links linkcheck)  # asks for every page elsewhere: takes a network
else()
  foreach(target docs docs-links)
    add_custom_target(
      ${target}
      COMMAND ${CMAKE_COMMAND} -E echo ${TENFOLD_DOCS_MISSING}
      COMMAND ${CMAKE_COMMAND} -E false
      VERBATIM)
  endforeach()
endif()
