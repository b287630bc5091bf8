# The headers that nearly every file includes. A file still includes what it uses: the release build has no
# precompiled headers and finds out.
set(LOCKSTEP_STD_HEADERS
  <algorithm> <array> <chrono> <cstddef> <cstdint> <exception> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h>)

# The version, as a generated header: only the files that say it are compiled again when it changes.
set(LOCKSTEP_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
configure_file(cmake/version.h.in "${LOCKSTEP_GENERATED_DIR}/lockstep_version.h" @ONLY)

# What all code of ours is compiled with.
function(lockstep_defaults target)
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src" "${LOCKSTEP_GENERATED_DIR}")
  target_link_libraries(${target} PRIVATE lockstep_options PUBLIC ${lockstep_fmt})
endfunction()

# add_layer(NAME ...): the library lockstep_NAME from src/NAME/*.cpp, linked to what follows.
function(add_layer name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  set(target lockstep_${name})
  if(NOT sources)  # a layer without a source yet still has its headers
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}/src" "${LOCKSTEP_GENERATED_DIR}")
    return()
  endif()
  add_library(${target} STATIC ${sources})
  lockstep_defaults(${target})
  target_link_libraries(${target} ${ARGN})
  target_precompile_headers(${target} PRIVATE ${LOCKSTEP_STD_HEADERS})
endfunction()
