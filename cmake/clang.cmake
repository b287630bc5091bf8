# Toolchain of the presets that need clang: the newest one of those that are tested.
find_program(clangxx NAMES clang++-19 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER "${clangxx}")
