#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "core/error.h"

namespace lockstep::cli {

/// What a command came to. It fills this as it goes: when it throws, what was filled in is still shown.
struct Result {
  std::string text = {};              ///< for standard output in text form
  Json fields = Json::object();       ///< for the JSON document, besides what every document has
  std::vector<Error> problems = {};   ///< the first one decides the exit status
  std::optional<int> exit_code = {};  ///< another program's, that this one passes on
};

}  // namespace lockstep::cli
