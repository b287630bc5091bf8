# What every target of ours is compiled with, and nobody else's: link lockstep_options PRIVATE.
add_library(lockstep_options INTERFACE)
target_compile_options(lockstep_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Woverloaded-virtual
  -Wnon-virtual-dtor -Wnull-dereference -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(lockstep_options INTERFACE -Wduplicated-cond -Wlogical-op)
else()
  # clang blames the caller of stable_sort for what libstdc++ 12 uses inside it; g++ still warns of our own uses.
  target_compile_options(lockstep_options INTERFACE -Wno-deprecated-declarations)
endif()
if(LOCKSTEP_DEV)
  target_compile_options(lockstep_options INTERFACE -Werror)
endif()

# LOCKSTEP_SANITIZE is what -fsanitize takes, with commas.
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_options INTERFACE
    -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()

if(LOCKSTEP_COVERAGE)
  target_compile_options(lockstep_options INTERFACE --coverage -fprofile-update=atomic)
  add_library(lockstep_coverage_exit STATIC "${CMAKE_SOURCE_DIR}/cmake/coverage_exit.cpp")
  target_link_libraries(lockstep_options INTERFACE lockstep_coverage_exit)
  target_link_options(lockstep_options INTERFACE --coverage -Wl,--wrap=_exit)
endif()

if(LOCKSTEP_HARDEN)
  target_compile_options(lockstep_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(lockstep_options INTERFACE -fcf-protection)
  endif()
  target_link_options(lockstep_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
