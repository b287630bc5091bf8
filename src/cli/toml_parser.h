#pragma once

/// toml++ 3.4 without its undefined behaviour, which our fuzzer found. Include it in one file only.

namespace lockstep::cli {

/// toml++ lost its way, and does not know where.
struct RefusedToml {};

[[noreturn]] inline void refuse_toml() {
  throw RefusedToml{};
}

}  // namespace lockstep::cli

// It takes for granted what it has not checked: "[`x]" is undefined behaviour in a release build and an
// assertion otherwise. Now it throws, in every build.
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : lockstep::cli::refuse_toml())

// Its test for blanks outside of ASCII calls some letters unreachable, é among them. They are not blanks.
#include <toml++/impl/forward_declarations.hpp>
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.hpp>
#pragma pop_macro("TOML_UNREACHABLE")

#include <toml++/toml.hpp>
