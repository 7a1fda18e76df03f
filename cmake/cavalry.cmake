# The project's build helpers: one interface target for flags, cavalry_library(), cavalry_test().

add_library(cavalry_flags INTERFACE)
# Everywhere, since it defines a macro, and precompiled headers are for one set of macros.
target_compile_options(cavalry_flags INTERFACE -pthread)
target_include_directories(cavalry_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(cavalry_flags INTERFACE CAVALRY_VERSION="${PROJECT_VERSION}"
                                                   SPDLOG_FMT_EXTERNAL)
target_compile_options(cavalry_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
                                               -Wno-missing-field-initializers)
if(CAVALRY_WERROR)
  # GCC 12 sees overruns in std::string that are not there.
  target_compile_options(cavalry_flags INTERFACE -Werror -Wno-error=array-bounds
                                                 -Wno-error=stringop-overflow -Wno-error=restrict)
endif()
if(CAVALRY_SANITIZE)
  add_compile_options(-fsanitize=${CAVALRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAVALRY_SANITIZE})
endif()

# cavalry_library(NAME SOURCES a.cc ... [DEPS targets ...]): a static library with the project's flags.
function(cavalry_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC cavalry_flags ${arg_DEPS})
  cavalry_precompiled(${name} cavalry_pch)
endfunction()

# cavalry_program(NAME SOURCES a.cc ... [DEPS targets ...]): an executable in bin/.
function(cavalry_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE cavalry_flags ${arg_DEPS})
endfunction()

# cavalry_test(NAME KIND unit SOURCES a_test.cc ... [DEPS targets ...] [TIMEOUT seconds]): one GoogleTest
# program, one ctest entry; KIND is its label, and tests/run KIND runs all of that label.
function(cavalry_test name)
  cmake_parse_arguments(arg "" "KIND;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE cavalry_flags ${arg_DEPS} GTest::gtest_main)
  # What is tested is optimized; the tests themselves need not be, which halves their compile time.
  target_compile_options(${name} PRIVATE -O0)
  cavalry_precompiled(${name} cavalry_test_pch)
  target_compile_definitions(${name} PRIVATE CAVALRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             CAVALRY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_KIND} TIMEOUT ${arg_TIMEOUT})
  # Only these may have a neighbour: the others share a server, or await processes and clocks.
  if(NOT arg_KIND MATCHES "^(unit|golden|fuzz)$")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
