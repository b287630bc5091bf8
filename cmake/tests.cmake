# tests/unit, tests/integration and tests/cli each make one program. A case file needs no edit here, and a test of one
# name runs with `build/dev/lockstep_unit "its name"`.
find_package(Catch2 3 REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Where the tests find the built program and the case files.
file(CONFIGURE OUTPUT "${LOCKSTEP_GENERATED_DIR}/test_paths.h" CONTENT
"#pragma once

#define LOCKSTEP_PROGRAM \"${CMAKE_BINARY_DIR}/lockstep\"
#define LOCKSTEP_TESTS_DIR \"${CMAKE_SOURCE_DIR}/tests\"
#define LOCKSTEP_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\"
")

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/reports")
set(every_layer lockstep_cli lockstep_files lockstep_ephemeral lockstep_db lockstep_core lockstep_sql)

# Test code sees the libraries too: it checks ours against them.
function(test_target target)
  lockstep_defaults(${target})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${target} PUBLIC ${every_layer} Catch2::Catch2 PkgConfig::LIBPQXX PkgConfig::LIBPQ
    OpenSSL::Crypto nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} PRIVATE ${LOCKSTEP_STD_HEADERS}
    <catch2/catch_test_macros.hpp> <catch2/generators/catch_generators.hpp>
    <catch2/matchers/catch_matchers_string.hpp>)
endfunction()

file(GLOB support CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/support/*.cpp")
if(support)
  add_library(lockstep_support STATIC ${support})
  test_target(lockstep_support)
endif()

# add_tests(FOLDER SHARDS): the program of tests/FOLDER, run as that many tests of ctest, which can run at the same time.
# A skipped test is a failure: something that it needs is missing.
function(add_tests target folder shards)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  test_target(${target})
  target_link_libraries(${target} PRIVATE Catch2::Catch2WithMain)
  if(TARGET lockstep_support)
    target_link_libraries(${target} PRIVATE lockstep_support)
  endif()
  if(TARGET lockstep)
    add_dependencies(${target} lockstep)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${folder})
    if(shards GREATER 1)
      math(EXPR number "${shard} + 1")
      set(name "${folder} ${number}/${shards}")
    endif()
    add_test(NAME "${name}" COMMAND ${target} --shard-count ${shards} --shard-index ${shard}
      --reporter console --reporter "xml::out=${CMAKE_BINARY_DIR}/reports/${folder}-${shard}.xml")
    set_tests_properties("${name}" PROPERTIES
      COST ${shards} TIMEOUT 900 LABELS ${folder} FAIL_REGULAR_EXPRESSION "[0-9]+ skipped;SKIPPED:")
  endforeach()
endfunction()

add_tests(lockstep_unit unit 1)
add_tests(lockstep_integration integration 2)
add_tests(lockstep_cli_tests cli 1)

# The layers of src/, and the proof that the check can fail.
add_test(NAME layering COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/layering.py" "${CMAKE_SOURCE_DIR}")
add_test(NAME "layering can fail" COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/layering_test.py")

# What a release promises about its binary is checked where a release is built (.ci/run); here, that the check can fail.
add_test(NAME "hardening can fail" COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/hardening_test.py")

# The scripts of scripts/ that decide something.
file(GLOB script_tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/scripts/*_test.py")
foreach(script_test IN LISTS script_tests)
  get_filename_component(name "${script_test}" NAME_WE)
  add_test(NAME "${name}" COMMAND Python3::Interpreter "${script_test}")
endforeach()

# lockstep against psql on the example; tests/differential/compare takes any other directory.
set(compare "${CMAKE_SOURCE_DIR}/tests/differential/compare")
if(TARGET lockstep)
  add_test(NAME differential
    COMMAND Python3::Interpreter "${compare}" --lockstep $<TARGET_FILE:lockstep> "${CMAKE_SOURCE_DIR}/migrations-example")
  add_test(NAME "differential of included files"
    COMMAND Python3::Interpreter "${compare}" --lockstep $<TARGET_FILE:lockstep>
      "${CMAKE_SOURCE_DIR}/tests/cases/migrate/301-include-nested-with-copy/sql")
  set_tests_properties(differential "differential of included files" PROPERTIES LABELS integration)
endif()
add_test(NAME "differential can fail" COMMAND Python3::Interpreter "${compare}_test.py")
set_tests_properties("differential can fail" PROPERTIES LABELS integration COST 100)  # the longest starts first

# A fixed part of what scripts/fire does at length.
if(TARGET lockstep)
  add_test(NAME fire COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/fire/fire" --fixed --lockstep $<TARGET_FILE:lockstep>)
  set_tests_properties(fire PROPERTIES LABELS fire COST 50 TIMEOUT 900)
  # A sanitizer itself needs more, and writes files.
  if(NOT LOCKSTEP_SANITIZE)
    add_test(NAME "fire with little memory" COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/fire/fire"
      "input:64 MiB of memory: a deployment" "input:64 MiB of memory: a statement of 64 MiB"
      "input:surroundings: no file may grow" --lockstep $<TARGET_FILE:lockstep>)
    set_tests_properties("fire with little memory" PROPERTIES LABELS fire TIMEOUT 900)
  endif()
endif()
