# `cmake --build --preset release --target sbom` writes lockstep.cdx.json beside the program: what it consists of.
find_package(Python3 COMPONENTS Interpreter)
if(NOT TARGET lockstep OR NOT Python3_FOUND)
  return()
endif()
file(STRINGS "${TOMLPLUSPLUS_INCLUDE_DIR}/toml++/impl/version.hpp" toml_lines REGEX "define TOML_LIB_(MAJOR|MINOR|PATCH)")
string(REGEX REPLACE "[^0-9]+" "." toml_version "${toml_lines}")
string(REGEX REPLACE "^\\.|\\.$" "" toml_version "${toml_version}")

set(versions "${LOCKSTEP_GENERATED_DIR}/versions.json")
file(CONFIGURE OUTPUT "${versions}" CONTENT [[{
  "lockstep": "@PROJECT_VERSION@",
  "libpqxx": "@LIBPQXX_VERSION@",
  "CLI11": "@CLI11_VERSION@",
  "toml++": "@toml_version@",
  "fmt": "@fmt_VERSION@",
  "nlohmann-json": "@nlohmann_json_VERSION@",
  "libstdc++": "@CMAKE_CXX_COMPILER_VERSION@"
}
]] @ONLY)

set(sbom "${CMAKE_BINARY_DIR}/lockstep.cdx.json")
add_custom_target(sbom
  COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/scripts/sbom.py" "${CMAKE_BINARY_DIR}" $<TARGET_FILE:lockstep> "${versions}" "${sbom}"
  DEPENDS lockstep VERBATIM)
install(FILES "${sbom}" DESTINATION share/doc/lockstep OPTIONAL)
if(LOCKSTEP_TESTS AND NOT LOCKSTEP_SANITIZE)  # a sanitizer is no part of what is shipped
  add_test(NAME sbom COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tests/sbom_test.py" "${CMAKE_BINARY_DIR}")
endif()
