#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::sql {

/// A psql meta-command.
struct MetaCommand {
  std::string_view name;  ///< without the backslash: "restrict", "i", "."; ";" and ":" for psql's \; and \:
  std::string_view argument;  ///< as written, without blanks around it
  std::size_t size =
      0;  ///< bytes of the line that belong to it, with a `\\` that separates it from what follows
};

/// Reads the meta-command at the start of `line`, which begins with a backslash and has no line end. As in
/// psql the name ends at a blank or a backslash; the command at the line's end or at a backslash outside of
/// quotes.
MetaCommand read_meta_command(std::string_view line);

}  // namespace lockstep::sql
