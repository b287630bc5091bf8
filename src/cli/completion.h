#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::cli {

/// A completion script made from the table of commands; absent for a shell that is not known.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace lockstep::cli
