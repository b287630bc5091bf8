# Compiles through ccache where there is one. Precompiled headers need the sloppiness (see "Precompiled headers" in
# its manual); the base directory, and none in the hash, let checkouts in different folders share results.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_NOHASHDIR=1 "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    "${CCACHE}")
endif()
