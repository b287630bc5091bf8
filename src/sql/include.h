#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sql/input.h"
#include "sql/meta_arguments.h"
#include "sql/source.h"

namespace lockstep::sql {

/// From where a relative path of an included file leads.
enum class IncludeBase {
  root,      ///< \i: the location that the script lies in
  includer,  ///< \ir: the folder of the file with the command
};

/// What \i or \ir asks for.
struct IncludeRequest {
  std::string path;
  IncludeBase base = IncludeBase::root;
  Place at = {};  ///< of the command
};

/// A file that was opened to be read within another one.
struct IncludedFile {
  ReadBytes read;
  std::size_t window = Input::first_capacity;
};

/// Opens a file, or takes note why that is not possible and gives nothing.
using OpenIncluded = std::function<std::optional<IncludedFile>(const IncludeRequest&)>;

/// The base that a psql command stands for; nothing if it includes no file.
std::optional<IncludeBase> include_base(std::string_view command);

/// The path in the argument of such a command, without semicolons at its end, as psql has it. When there is
/// none, or more, the problem says so.
struct IncludePath {
  std::string path = {};
  std::optional<Problem> problem = std::nullopt;
};
IncludePath read_include_path(std::string_view argument);

/// A psql command prints its arguments: \echo, \qecho and \warn.
bool is_echo(std::string_view command);

/// The line that it prints, without the line end that -n leaves out.
std::string echoed_text(std::string_view argument);

}  // namespace lockstep::sql
