#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/firsts.h"
#include "sql/source.h"

namespace lockstep::sql {

/// The declared placeholders, and the marks between which their names stand in a file.
struct Placeholders {
  std::map<std::string, std::string> values = {};  ///< by name in lower case
  std::string prefix = "${";
  std::string suffix = "}";

  /// The value of a name, in whatever case; nullptr where it is not declared.
  const std::string* find(std::string_view name) const;
};

/// Which placeholders of a file are replaced. Never those in comments and COPY data.
enum class PlaceholderScope : std::uint8_t {
  off,     ///< none
  on,      ///< those in code, strings and quoted identifiers
  bodies,  ///< those in dollar-quoted text as well
};

/// The scope that a directive's settings name, "transaction=off, placeholders=bodies"; else `current`.
PlaceholderScope scope_in(std::string_view settings, PlaceholderScope current);

/// A placeholder as a file has it.
struct Placeholder {
  std::string name = {};     ///< as written
  std::string written = {};  ///< all of it, marks included
  Place place = {};
};

/// What became of the placeholders of a script.
struct PlaceholderUses {
  std::set<std::string> declared = {};  ///< the names in lower case whose declared values are in it
  Firsts<Placeholder> undefined = {};   ///< left as they are
  bool replaced = false;                ///< the text is not that of the file, if only for an escape
};

/// A name of letters, digits, '_', '-' and '.'.
bool is_placeholder_name(std::string_view name);
std::string lower_case(std::string_view name);

/// A value in a text, and the place of the placeholder that it stands for.
struct Replaced {
  std::size_t begin = 0;  ///< in bytes of the text that was read
  std::size_t size = 0;
  Place from = {};  ///< where the placeholder begins in the file
  Place to = {};    ///< behind it

  std::size_t end() const { return begin + size; }
};

}  // namespace lockstep::sql
