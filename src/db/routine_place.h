#pragma once

#include <optional>
#include <string_view>

#include "db/hashed_script.h"

namespace lockstep::db {

/// Where in the file an error lies that the server places on a line of a routine: of the DO block that is the
/// `failed` statement, or of a function or procedure that the file has made by then. Nothing for routines
/// from elsewhere, and where the file has several of that name. Reads the file again.
std::optional<sql::Place> place_in_routine(std::string_view context, const Migration& migration,
                                           const OpenScript& open, const sql::Place& failed);

}  // namespace lockstep::db
