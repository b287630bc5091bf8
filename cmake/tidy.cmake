# `cmake --build --preset asan --target tidy`: needs a build by clang, whose flags and precompiled headers it reads.
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-19 run-clang-tidy)
find_program(CLANG_TIDY NAMES clang-tidy-19 clang-tidy)
if(RUN_CLANG_TIDY AND CLANG_TIDY AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_custom_target(tidy
    COMMAND "${RUN_CLANG_TIDY}" -clang-tidy-binary "${CLANG_TIDY}" -quiet -p "${CMAKE_BINARY_DIR}"
      "${CMAKE_SOURCE_DIR}/src/.*"
    USES_TERMINAL VERBATIM)
endif()
