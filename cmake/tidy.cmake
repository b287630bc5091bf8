# `cmake --build --preset dev --target tidy` and `--target format`.
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-19 run-clang-tidy)
find_program(CLANG_TIDY NAMES clang-tidy-19 clang-tidy)
if(RUN_CLANG_TIDY AND CLANG_TIDY)
  add_custom_target(tidy
    COMMAND "${RUN_CLANG_TIDY}" -clang-tidy-binary "${CLANG_TIDY}" -quiet -p "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}/src/.*"
    USES_TERMINAL VERBATIM)
endif()
